// One session with a TypeScript SDK; what differs between the two is in `ts-v1.mjs` and `ts-v2.mjs`.

/** Plays the session that the first argument describes, and prints what came of it, a line each. */
export async function play(sdk) {
  const session = JSON.parse(process.argv[2]);
  const say = (observation) => console.log(JSON.stringify(observation));
  let asked = [];

  const client = new sdk.Client(
    { name: 'candor-peers', version: '1.0.0' },
    { capabilities: session.answer ? { elicitation: { form: {} } } : {}, ...sdk.options(session.era) },
  );
  if (session.answer) {
    client.setRequestHandler(sdk.elicitation, async ({ params }) => {
      asked.push(params.message);
      return session.answer;
    });
  }

  const [command, ...args] = session.command ?? [];
  const transport = command
    ? new sdk.StdioClientTransport({ command, args, stderr: 'inherit' })
    : new sdk.StreamableHTTPClientTransport(new URL(session.url), {
        requestInit: { headers: { Authorization: `Bearer ${session.token}` } },
      });

  // Over stdio, v1 keeps the version to itself but tells any transport that wants to know.
  let protocol;
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    protocol = version;
    tell?.(version);
  };

  await client.connect(transport);
  say({ protocol: client.getNegotiatedProtocolVersion?.() ?? protocol });
  say({ tools: (await client.listTools()).tools });
  for (const [tool, args] of session.calls) {
    asked = [];
    try {
      const result = await client.callTool({ name: tool, arguments: args });
      say({ tool, result, asked });
    } catch (error) {
      say({ tool, error: { code: error.code ?? null, message: String(error.message) }, asked });
    }
  }
  await client.close();
}
