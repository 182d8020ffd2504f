// Build candor, start what the demos need, and open the Inspector: `npm start`.

import { Laboratory, candor } from './laboratory.mjs';

const laboratory = await Laboratory.open(candor());
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.once(signal, async () => {
    await laboratory.close();
    process.exit(0);
  });
}
try {
  console.log(`The Inspector: ${await laboratory.inspect({})}\nStop with Ctrl-C.`);
} catch (error) {
  await laboratory.close();
  throw error;
}
