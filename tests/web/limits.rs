//! What a fetch may cost.

use std::{
    io::{Read, Write},
    net::TcpStream,
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use candor_tools::{
    ToolError,
    web::{Page, Web, WebConfig, WebReader},
};
use flate2::{Compression, write::GzEncoder};

use super::{
    assert_refused, config, fetch, reader, refusal,
    server::{Server, page},
};

/// Limits short enough for a test.
fn impatient(server: &Server) -> WebConfig {
    WebConfig {
        connect_timeout: Duration::from_millis(500),
        read_timeout: Duration::from_millis(500),
        total_timeout: Duration::from_secs(2),
        ..config(server)
    }
}

/// The outcome under short limits, which must come soon.
async fn soon(server: &Server) -> Result<Page, ToolError> {
    let reader = reader(impatient(server));
    let url = server.origin();
    tokio::time::timeout(Duration::from_secs(15), reader.fetch(&url)).await.expect("it hangs")
}

fn head(more: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n{more}\r\n\r\n")
}

#[tokio::test]
async fn a_body_is_cut_at_the_limit_after_decompression() {
    let mut zip = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..200 {
        zip.write_all(&vec![b'x'; 1 << 20]).unwrap();
    }
    let bomb = zip.finish().unwrap();
    assert!(bomb.len() < 300_000);
    let length = bomb.len();
    let head = head(&format!("Content-Encoding: gzip\r\nContent-Length: {length}"));
    let server = Server::always([head.as_bytes(), &bomb].concat());
    let config = WebConfig { max_text_bytes: usize::MAX, ..config(&server) };
    let page = reader(config).fetch(&server.origin()).await.unwrap();
    assert!(page.truncated);
    assert_eq!(page.text.unwrap().len(), 1 << 20);
}

#[tokio::test]
async fn a_body_without_an_end_is_cut_at_the_limit() {
    for (headers, chunk) in [
        ("Transfer-Encoding: chunked", "8\r\nabcdefgh\r\n"),
        ("Content-Length: 10000000000", "abcdefgh"),
        ("Connection: close", "abcdefgh"),
    ] {
        let server = Server::start(move |_, stream| {
            let _ = stream.write_all(head(headers).as_bytes());
            let block = chunk.repeat(1000);
            while stream.write_all(block.as_bytes()).is_ok() {}
        });
        let page = fetch(&server, "/").await.unwrap();
        let text = page.text.unwrap();
        assert!(page.truncated, "{headers}");
        assert_eq!(text.len(), 256 << 10, "{headers}");
    }
}

#[tokio::test]
async fn a_body_of_exactly_the_limit_is_whole() {
    for (length, truncated) in [(999, false), (1000, false), (1001, true)] {
        let server = Server::always(page("text/plain", "x".repeat(length)));
        let body = WebConfig { max_body_bytes: 1000, ..config(&server) };
        let text = WebConfig { max_text_bytes: 1000, ..config(&server) };
        for config in [body, text] {
            let page = reader(config).fetch(&server.origin()).await.unwrap();
            assert_eq!(page.truncated, truncated, "{length}");
            assert_eq!(page.text.unwrap().len(), length.min(1000));
        }
    }
    // A character cut in half at the limit is left out, and no fault of the text.
    let server = Server::always(page("text/plain", "aé"));
    let config = WebConfig { max_body_bytes: 2, ..config(&server) };
    let page = reader(config).fetch(&server.origin()).await.unwrap();
    assert_eq!((page.text.as_deref(), page.lossy, page.truncated), (Some("a"), false, true));
}

#[tokio::test]
async fn a_server_that_takes_its_time_meets_a_limit() {
    type Slow = fn(&mut TcpStream);
    let cases: [(&str, Slow); 6] = [
        ("silent", |stream| drop(stream.read(&mut [0]))),
        ("silent after the head", |stream| {
            let _ = stream.write_all(head("Content-Length: 10").as_bytes());
            let _ = stream.read(&mut [0]);
        }),
        ("dripping body", |stream| {
            let _ = stream.write_all(head("Content-Length: 100000").as_bytes());
            drip(stream, "x");
        }),
        ("dripping chunks", |stream| {
            let _ = stream.write_all(head("Transfer-Encoding: chunked").as_bytes());
            drip(stream, "1\r\nx\r\n");
        }),
        ("dripping head", |stream| {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nX: ");
            drip(stream, "x");
        }),
        ("interim responses", |stream| {
            drip(stream, "HTTP/1.1 103 Early Hints\r\n\r\n");
        }),
    ];
    for (name, slow) in cases {
        let server = Server::start(move |_, stream| slow(stream));
        let text = refusal(soon(&server).await);
        assert!(text.contains("time limit"), "{name}: {text}");
        if name.starts_with("silent") {
            // Silence ends a fetch long before its time is up.
            let total_timeout = Duration::from_secs(100);
            let reader = reader(WebConfig { total_timeout, ..impatient(&server) });
            let url = server.origin();
            let outcome = tokio::time::timeout(Duration::from_secs(30), reader.fetch(&url)).await;
            let text = refusal(outcome.expect("silence is not noticed"));
            assert!(text.contains("time limit"), "{name}: {text}");
        }
    }
}

fn drip(stream: &mut TcpStream, drop: &str) {
    while stream.write_all(drop.as_bytes()).is_ok() {
        thread::sleep(Duration::from_millis(20));
    }
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_refused() {
    let many_headers = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(200_000));
    let long_header = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(5_000_000));
    for answer in [
        "",
        "\r\n\r\n",
        "SSH-2.0-x\r\n",
        "HTTP/0.9",
        "hello",
        "HTTP/1.1 999999 x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: -1\r\n\r\nshort",
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nabcd",
        "HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n",
        &many_headers,
        &long_header,
    ] {
        let server = Server::always(answer);
        match soon(&server).await {
            Err(ToolError::Refused(text)) => {
                assert!(text.starts_with("cannot fetch from `127.0.0.1`"), "{text}");
            }
            // A status without content is a page.
            Ok(page) => assert_eq!(page.status, 101),
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_is_refused() {
    let port = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.local_addr().unwrap().port()
    };
    let url = format!("http://127.0.0.1:{port}/");
    let config = WebConfig { allow: vec![url.clone()], ..WebConfig::default() };
    let text = refusal(reader(config).fetch(&url).await);
    assert!(text.contains("connection refused"), "{text}");
    let server = Server::always("no TLS here");
    let url = format!("https://{}/", server.address);
    let config = WebConfig { allow: vec![url.clone()], ..WebConfig::default() };
    assert_refused(reader(config).fetch(&url).await, "cannot fetch from `127.0.0.1`", &url);
}

#[tokio::test]
async fn fetches_beyond_the_limit_are_told_that_the_tool_is_busy() {
    let (arrived, arrivals) = mpsc::channel();
    let tarpit = Server::start(move |_, stream| {
        arrived.send(()).unwrap();
        let _ = stream.read(&mut [0]);
    });
    let config = WebConfig { max_parallel: 3, ..config(&tarpit) };
    let web = Arc::new(Web::new(config).unwrap());
    let running: Vec<_> = (0..3)
        .map(|_| {
            let (reader, url) = (WebReader::new(Arc::clone(&web)), tarpit.origin());
            tokio::spawn(async move { reader.fetch(&url).await })
        })
        .collect();
    tokio::task::spawn_blocking(move || (0..3).for_each(|_| arrivals.recv().unwrap())).await.unwrap();
    let reader = WebReader::new(web);
    for _ in 0..50 {
        assert_refused(reader.fetch(&tarpit.origin()).await, "busy: 3 fetches", "tarpit");
    }
    for fetch in running {
        fetch.abort();
        assert!(fetch.await.unwrap_err().is_cancelled());
    }
    // Their places are free again.
    assert_refused(reader.fetch("http://127.0.0.1/").await, "blocked address", "afterwards");
}

#[tokio::test]
async fn a_dropped_fetch_drops_its_connection() {
    for answer in ["", "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\nab"] {
        let (closed, closing) = mpsc::channel();
        let server = Server::start(move |_, stream| {
            stream.write_all(answer.as_bytes()).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
            closed.send(None).unwrap();
            let end = stream.read(&mut [0]);
            closed.send(Some(end.map_err(|error| error.kind()))).unwrap();
        });
        let reader = reader(config(&server));
        let url = server.origin();
        let fetch = tokio::spawn(async move { reader.fetch(&url).await });
        let closing = tokio::task::spawn_blocking(move || {
            assert_eq!(closing.recv().unwrap(), None);
            closing
        });
        let closing = closing.await.unwrap();
        assert!(!fetch.is_finished());
        fetch.abort();
        let end = tokio::task::spawn_blocking(move || closing.recv().unwrap()).await.unwrap();
        assert!(
            matches!(end, Some(Ok(0) | Err(std::io::ErrorKind::ConnectionReset))),
            "the connection stays open: {end:?}"
        );
    }
}

/// Up to two megabytes each of what makes a renderer slow, deep or big.
fn hostile_pages() -> Vec<(&'static str, String)> {
    let numbered = |count: usize, start: &str, end: &str| {
        (0..count).flat_map(|at| [start.to_owned(), at.to_string(), end.to_owned()]).collect::<String>()
    };
    vec![
        ("nested blocks", "<div>".repeat(200_000)),
        ("nested quotes", "<blockquote>".repeat(87_000)),
        ("nested lists", "<ul><li>".repeat(125_000)),
        ("nested ordered lists", "<ol><li>x".repeat(100_000)),
        ("nested definitions", "<dl><dt>x<dd>".repeat(80_000)),
        ("nested tables", "<table><tr><td>x<td>".repeat(50_000)),
        ("tables in cells", format!("{}{}", "<table><tr><td>".repeat(6), "<td>x".repeat(200_000))),
        ("wide tables in tables", format!("<table><tr><td>{}", "<table><tr><td>x<td>y</table>".repeat(35_000))),
        ("a wide table", format!("<table><tr>{}", "<td>x".repeat(200_000))),
        ("a long table", format!("<table>{}", "<tr><td>x<td>y".repeat(70_000))),
        (
            "a ragged table",
            format!("<table>{}", (1..600).flat_map(|n| ["<tr>".to_owned(), "<td>x".repeat(n)]).collect::<String>()),
        ),
        ("text that tables throw out", format!("<table>{}", "<br>x".repeat(200_000))),
        (
            "unclosed formatting in paragraphs",
            format!("<p>{}</p>{}", numbered(40_000, "<b a=", ">"), "<p>x".repeat(130_000)),
        ),
        ("links in links", numbered(60_000, "<a href=/", "><p>")),
        (
            "long links",
            format!("<base href=http://x.example/{}>{}", "y".repeat(4000), "<a href=z>z</a>".repeat(60_000)),
        ),
        ("many attributes", format!("<p {}", numbered(150_000, "a", " "))),
        ("one long attribute", format!("<p a=\"{}", "x".repeat(1_000_000))),
        ("one long word", "x".repeat(1_000_000)),
        ("one long line", format!("<pre>{}", "x ".repeat(500_000))),
        ("wide characters", "字".repeat(340_000)),
        ("combining characters", "e\u{301}\u{301}\u{301}".repeat(140_000)),
        ("entities", "&amp;".repeat(200_000)),
        ("half entities", "&#x".repeat(340_000)),
        ("headings", "<h1><p>".repeat(140_000)),
        ("hidden in hidden", "<template>".repeat(100_000)),
        ("scripts", "<script>x</script>".repeat(58_000)),
        ("half tags", "<".repeat(1_000_000)),
        ("half end tags", "</".repeat(500_000)),
        ("end tags", "</p></div></td>".repeat(66_000)),
        ("comments", "<!--".repeat(250_000)),
        ("nul", "\0".repeat(1_000_000)),
    ]
}

#[tokio::test]
async fn hostile_html_is_rendered_in_bounded_time() {
    for (name, html) in hostile_pages() {
        assert!(html.len() <= 1 << 21, "{name}");
        let server = Server::always(page("text/html", html));
        let config = WebConfig { render_timeout: Duration::from_millis(300), ..config(&server) };
        let (reader, url) = (reader(config), server.origin());
        let outcome = tokio::time::timeout(Duration::from_secs(60), reader.fetch(&url)).await;
        let page = outcome.unwrap_or_else(|_| panic!("{name} takes too long")).unwrap();
        assert!(page.text.unwrap().len() <= 256 << 10, "{name}");
    }
}
