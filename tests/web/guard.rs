//! Where a fetch may go.

use std::{
    net::{IpAddr, TcpListener},
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use candor_tools::web::{Web, WebConfig, WebReader, is_public};

use super::{
    assert_refused, config, fetch, reader, reader_where_names_lead_to, refusal,
    server::{Server, page, redirect},
};

#[test]
fn only_addresses_of_the_public_internet_are_public() {
    let table = [
        // (address, public): both ends of each range and their neighbours
        ("0.0.0.0", false),
        ("0.255.255.255", false),
        ("1.0.0.0", true),
        ("9.255.255.255", true),
        ("10.0.0.0", false),
        ("10.255.255.255", false),
        ("11.0.0.0", true),
        ("100.63.255.255", true),
        ("100.64.0.0", false),
        ("100.100.100.200", false),
        ("100.127.255.255", false),
        ("100.128.0.0", true),
        ("126.255.255.255", true),
        ("127.0.0.1", false),
        ("127.255.255.255", false),
        ("128.0.0.0", true),
        ("168.63.129.15", true),
        ("168.63.129.16", false),
        ("168.63.129.17", true),
        ("169.253.255.255", true),
        ("169.254.169.254", false),
        ("169.255.0.0", true),
        ("172.15.255.255", true),
        ("172.16.0.0", false),
        ("172.31.255.255", false),
        ("172.32.0.0", true),
        ("191.255.255.255", true),
        ("192.0.0.0", false),
        ("192.0.0.192", false),
        ("192.0.1.0", true),
        ("192.0.2.1", false),
        ("192.0.3.0", true),
        ("192.88.98.255", true),
        ("192.88.99.1", false),
        ("192.88.100.0", true),
        ("192.167.255.255", true),
        ("192.168.0.0", false),
        ("192.168.255.255", false),
        ("192.169.0.0", true),
        ("198.17.255.255", true),
        ("198.18.0.0", false),
        ("198.19.255.255", false),
        ("198.20.0.0", true),
        ("198.51.99.255", true),
        ("198.51.100.1", false),
        ("198.51.101.0", true),
        ("203.0.112.255", true),
        ("203.0.113.1", false),
        ("203.0.114.0", true),
        ("223.255.255.255", true),
        ("224.0.0.1", false),
        ("239.255.255.255", false),
        ("240.0.0.1", false),
        ("255.255.255.255", false),
        ("::", false),
        ("::1", false),
        ("::127.0.0.1", false),
        ("::8.8.8.8", false),
        ("::ffff:127.0.0.1", false),
        ("::ffff:10.0.0.1", false),
        ("::ffff:8.8.8.8", true),
        ("::ffff:0:127.0.0.1", false),
        ("64:ff9b::7f00:1", false),
        ("64:ff9b:1::1", false),
        ("100::1", false),
        ("1fff:ffff::1", false),
        ("2000::1", true),
        ("2001::1", false),
        ("2001:0:7f00:1::", false),
        ("2001:1ff:ffff::1", false),
        ("2001:200::1", true),
        ("2001:db7:ffff::1", true),
        ("2001:db8::1", false),
        ("2001:db9::1", true),
        ("2002:7f00:1::", false),
        ("2003::1", true),
        ("2606:4700::1111", true),
        ("2606:4700::5efe:127.0.0.1", false),
        ("2606:4700::200:5efe:10.0.0.1", false),
        ("2606:4700::200:5efe:8.8.8.8", true),
        ("3ffe:ffff::1", true),
        ("3fff::1", false),
        ("3fff:fff::1", false),
        ("3fff:1000::1", true),
        ("4000::1", false),
        ("5f00::1", false),
        ("fc00::1", false),
        ("fd00:ec2::254", false),
        ("fe80::1", false),
        ("fec0::1", false),
        ("ff02::1", false),
    ];
    for (address, public) in table {
        assert_eq!(is_public(address.parse::<IpAddr>().unwrap()), public, "{address}");
    }
}

/// A reader that must not look anything up.
fn reader_without_names() -> WebReader {
    let lookup = |host: &str| panic!("looked up {host}");
    WebReader::new(Arc::new(Web::with_lookup(WebConfig::default(), lookup).unwrap()))
}

#[tokio::test]
async fn each_spelling_of_a_blocked_address_is_refused() {
    let hosts = [
        "127.0.0.1",
        "127.0.0.1.",
        "127.1",
        "127.0.1",
        "2130706433",
        "0x7f000001",
        "017700000001",
        "0x7f.1",
        "0177.0.0.1",
        "0X7F.0.0.0x1",
        "127。0。0。1",
        "１２７.0.0.1",
        "①②⑦.0.0.1",
        "%31%32%37.0.0.1",
        "127%2e0%2e0%2e1",
        "127.0.0\u{ad}.1",
        "0.0.0.0",
        "0",
        "0x0",
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[2002:7f00:1::]",
        "[fe80::1]",
        "[fd00:ec2::254]",
        "169.254.169.254",
        "0xa9fea9fe",
        "2852039166",
        "169.254.43518",
        "100.100.100.200",
        "[::ffff:169.254.169.254]",
        "10.0.0.1",
        "192.168.1.1",
        "255.255.255.255",
    ];
    for host in hosts {
        for url in [format!("http://{host}/"), format!("https://{host}:443/x?y")] {
            assert_refused(reader_without_names().fetch(&url).await, "blocked address `", &url);
        }
    }
    for url in [
        "http:127.0.0.1",
        "http:/127.0.0.1",
        "http:\\\\127.0.0.1\\x",
        "  http://127.0.0.1 ",
        "http://127.0.0.1\\@good.example/",
        "HTTP://127.0.0.1",
    ] {
        assert_refused(reader_without_names().fetch(url).await, "blocked address `", url);
    }
}

#[tokio::test]
async fn names_of_this_machine_and_network_are_refused_without_a_lookup() {
    for host in [
        "localhost",
        "LOCALHOST",
        "localhost.",
        "localhost..",
        "foo.localhost",
        "ｌｏｃａｌｈｏｓｔ",
        "loc%61lhost",
        "printer.local",
        "metadata.google.internal.",
        "METADATA.google.INTERNAL",
        "router.home.arpa",
        "box.localdomain",
        "intranet",
        "metadata",
        "hidden.onion",
    ] {
        let url = format!("http://{host}/");
        let text = refusal(reader_without_names().fetch(&url).await);
        // A name with two final dots is no name at all for some parsers.
        assert!(text.starts_with("blocked address `"), "{host}: {text}");
    }
}

#[tokio::test]
async fn a_url_that_cannot_be_one_is_refused_by_what_is_wrong() {
    let long = format!("http://good.example/{}", "a".repeat(200_000));
    let grows = format!("http://good.example/{}", "é".repeat(1_500));
    for (url, start) in [
        ("", "invalid url ``: invalid scheme"),
        ("x", "invalid url `x`: invalid scheme"),
        ("//x", "invalid url `//x`: invalid scheme"),
        ("good.example/x", "invalid url `good.example/x`: invalid scheme"),
        ("http://", "invalid url `"),
        ("http://[::1", "invalid url `"),
        ("http://[fe80::1%25eth0]/", "invalid url `"),
        ("http://1.2.3.4.5/", "invalid url `"),
        ("http://256.0.0.1/", "invalid url `"),
        ("http://good.example:99999/", "invalid url `"),
        ("http://a b/", "invalid url `"),
        ("http://good.example/\r\nHost: x", "invalid url `"),
        ("ht\ttp://good.example/", "invalid url `"),
        ("http://good.\nexample/", "invalid url `"),
        ("http://good.example/\0", "invalid url `"),
        ("http://good.example/\u{7f}", "invalid url `"),
        ("http://good.example/\u{85}", "invalid url `"),
        (&long, "invalid url `http://good.example/aaa"),
        (&grows, "invalid url `http://good.example/"),
        ("file:///etc/passwd", "invalid scheme `file`"),
        ("FILE:/etc/passwd", "invalid scheme `file`"),
        ("gopher://good.example/", "invalid scheme `gopher`"),
        ("ftp://good.example/", "invalid scheme `ftp`"),
        ("data:text/html,x", "invalid scheme `data`"),
        ("unix:/run/x.sock", "invalid scheme `unix`"),
        ("jar:http://good.example!/x", "invalid scheme `jar`"),
        ("javascript:alert(1)", "invalid scheme `javascript`"),
        ("view-source:http://good.example/", "invalid scheme `view-source`"),
        ("ws://good.example/", "invalid scheme `ws`"),
        ("http://good.example@127.0.0.1/", "invalid url for host `127.0.0.1`"),
        ("http://user:pw@good.example/", "invalid url for host `good.example`"),
        ("http://:pw@good.example/", "invalid url for host `good.example`"),
        ("http://user@good.example/", "invalid url for host `good.example`"),
        ("http://good.example:22/", "port not allowed `22`"),
        ("http://good.example:25/", "port not allowed `25`"),
        ("https://good.example:6379/", "port not allowed `6379`"),
        ("http://good.example:0/", "port not allowed `0`"),
        ("http://8.8.8.8:8080/", "port not allowed `8080`"),
    ] {
        let text = refusal(reader_without_names().fetch(url).await);
        assert_refused(reader_without_names().fetch(url).await, start, url);
        assert!(!text.contains("pw"), "a password is repeated: {text}");
    }
}

#[tokio::test]
async fn a_name_is_refused_if_any_of_its_addresses_is_not_public() {
    for addresses in [
        &["10.0.0.1"][..],
        &["127.0.0.1"],
        &["::1"],
        &["::ffff:127.0.0.1"],
        &["3ffe::1", "10.0.0.1"],
        &["10.0.0.1", "3ffe::1"],
        &["169.254.169.254"],
    ] {
        let reader = reader_where_names_lead_to(WebConfig::default(), addresses);
        let result = reader.fetch("http://good.example/").await;
        let text = refusal(result);
        assert!(text.starts_with("blocked address `good.example`: it leads to"), "{addresses:?}: {text}");
        assert!(!text.contains("10.0.0.1"), "tells what a name means inside: {text}");
    }
}

#[tokio::test]
async fn a_name_is_looked_up_once_so_that_no_second_answer_counts() {
    // Where a second answer would lead.
    let trap = TcpListener::bind("127.0.0.1:0").unwrap();
    trap.set_nonblocking(true).unwrap();
    let port = trap.local_addr().unwrap().port();
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let lookup = move |_: &str| {
        let first = count.fetch_add(1, Ordering::SeqCst) == 0;
        // The first is global by its range and belongs to nobody.
        Ok(vec![if first { "3ffe::1" } else { "127.0.0.1" }.parse().unwrap()])
    };
    let config = WebConfig { ports: vec![port], connect_timeout: Duration::from_millis(300), ..WebConfig::default() };
    let reader = WebReader::new(Arc::new(Web::with_lookup(config, lookup).unwrap()));
    let url = format!("http://rebinding.example:{port}/");
    assert_refused(reader.fetch(&url).await, "cannot fetch from `rebinding.example`", &url);
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert!(trap.accept().is_err(), "it connected to the second answer");
}

#[tokio::test]
async fn a_name_without_addresses_is_unknown() {
    let reader = reader_where_names_lead_to(WebConfig::default(), &[]);
    let url = "http://nowhere.example/";
    assert_refused(reader.fetch(url).await, "unknown host `nowhere.example`", url);
}

#[tokio::test]
async fn an_allowed_origin_allows_nothing_but_itself() {
    let server = Server::always(page("text/plain", "hello"));
    let port = server.address.port();
    let page = fetch(&server, "/x").await.unwrap();
    assert_eq!(page.text.as_deref(), Some("hello"));
    for url in [
        format!("https://127.0.0.1:{port}/"),
        format!("http://127.0.0.2:{port}/"),
        format!("http://localhost:{port}/"),
        format!("http://[::ffff:127.0.0.1]:{port}/"),
        format!("http://[::1]:{port}/"),
        format!("http://0.0.0.0:{port}/"),
        "http://127.0.0.1/".to_owned(),
        "http://127.0.0.1:1/".to_owned(),
    ] {
        assert_refused(reader(config(&server)).fetch(&url).await, "blocked address `", &url);
    }
    // A name that leads to the same place is not the same origin.
    let other = reader_where_names_lead_to(WebConfig { ports: vec![port], ..config(&server) }, &["127.0.0.1"]);
    let url = format!("http://good.example:{port}/");
    assert_refused(other.fetch(&url).await, "blocked address `good.example`", &url);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn an_allowed_name_may_lead_to_loopback() {
    let server = Server::always(page("text/plain", "hello"));
    let port = server.address.port();
    let allow = vec![format!("http://site.test:{port}"), format!("http://localhost:{port}/")];
    let config = WebConfig { allow, ..WebConfig::default() };
    let reader = reader_where_names_lead_to(config, &["127.0.0.1"]);
    for host in ["site.test", "SITE.test", "localhost"] {
        let page = reader.fetch(&format!("http://{host}:{port}/")).await.unwrap();
        assert_eq!(page.text.as_deref(), Some("hello"), "{host}");
    }
    for host in ["sub.site.test", "localhost.", "site.test."] {
        let result = reader.fetch(&format!("http://{host}:{port}/")).await;
        let text = refusal(result);
        assert!(text.starts_with("blocked address") || text.starts_with("port not"), "{text}");
    }
}

#[test]
fn an_origin_that_is_not_one_is_refused_at_the_start() {
    for origin in [
        "",
        "localhost:3000",
        "127.0.0.1",
        "ftp://x",
        "file:///",
        "http://x/path",
        "http://x?q",
        "http://x#f",
        "http://user@x",
        "http://",
        "http://*.x/*",
    ] {
        let config = WebConfig { allow: vec![origin.to_owned()], ..WebConfig::default() };
        let error = Web::new(config).expect_err(origin).to_string();
        assert!(error.contains("write scheme://host:port"), "{error}");
    }
}

#[tokio::test]
async fn a_redirect_is_judged_like_a_url() {
    let inner = Server::always(page("text/plain", "secret"));
    let locations = [
        ("http://127.0.0.1/".to_owned(), "blocked address `127.0.0.1`"),
        (inner.origin(), "blocked address `127.0.0.1`"),
        (format!("//{}/", inner.address), "blocked address `127.0.0.1`"),
        ("http://2130706433/".to_owned(), "blocked address `127.0.0.1`"),
        ("http://localhost/".to_owned(), "blocked address `localhost`"),
        ("http://169.254.169.254/latest/".to_owned(), "blocked address `169.254.169.254`"),
        ("http://evil.example/".to_owned(), "blocked address `evil.example`"),
        ("//evil.example/".to_owned(), "blocked address `evil.example`"),
        ("file:///etc/passwd".to_owned(), "invalid scheme `file`"),
        ("javascript:1".to_owned(), "invalid scheme `javascript`"),
        ("http://user:pw@good.example/".to_owned(), "invalid url for host"),
        ("http://good.example:22/".to_owned(), "port not allowed `22`"),
        ("http://[".to_owned(), "invalid url `http://[`"),
        ("/a\tb".to_owned(), "invalid url `/a"),
        ("x".repeat(10_000), "invalid url `xxx"),
    ];
    for status in [301, 302, 303, 307, 308] {
        for (location, start) in &locations {
            let server = Server::always(redirect(status, location));
            let reader = reader_where_names_lead_to(config(&server), &["10.0.0.1"]);
            assert_refused(reader.fetch(&server.origin()).await, start, location);
            assert_eq!(server.requests().len(), 1);
        }
    }
    assert!(inner.requests().is_empty());
}

#[tokio::test]
async fn five_redirects_are_followed_and_no_more() {
    let hops = |count: usize| {
        let mut table: Vec<_> =
            (0..count).map(|hop| (format!("/{hop}"), redirect(302, &format!("{}?a=1#b", hop + 1)))).collect();
        for (hop, (path, _)) in table.iter_mut().enumerate().skip(1) {
            *path = format!("/{hop}?a=1");
        }
        table.push((format!("/{count}?a=1"), page("text/plain", "there")));
        Server::saying(table)
    };
    let server = hops(5);
    let found = fetch(&server, "/0").await.unwrap();
    assert_eq!((found.redirects, found.text.as_deref()), (5, Some("there")));
    assert_eq!(found.url, format!("{}/5?a=1#b", server.origin()));

    let server = hops(6);
    assert_refused(fetch(&server, "/0").await, "too many redirects", "6 hops");
    assert_eq!(server.requests().len(), 6);

    let server = Server::always(redirect(308, "/"));
    assert_refused(fetch(&server, "/").await, "too many redirects", "loop");
}

#[tokio::test]
async fn a_redirect_to_nowhere_is_an_ordinary_page() {
    for head in
        ["302 Found\r\nContent-Type: text/plain", "304 Not Modified\r\nLocation: /x", "300 Many\r\nLocation: /x"]
    {
        let server = Server::always(format!("HTTP/1.1 {head}\r\nContent-Length: 0\r\n\r\n"));
        let page = fetch(&server, "/").await.unwrap();
        assert_eq!((page.status, page.redirects), (head[..3].parse().unwrap(), 0), "{head}");
    }
}

#[tokio::test]
async fn nothing_but_a_bare_get_goes_out() {
    let first = Server::always(
        redirect(302, "/next")
            .strip_suffix(b"\r\n")
            .unwrap()
            .iter()
            .copied()
            .chain(*b"Set-Cookie: a=b; Path=/\r\n\r\n")
            .collect::<Vec<_>>(),
    );
    refusal(fetch(&first, "/start?q=1#fragment").await);
    assert!(first.requests().len() > 1);
    for request in first.requests() {
        assert!(request.starts_with("GET /"), "{request}");
        assert!(!request.contains("fragment"), "{request}");
        let mut names: Vec<_> = request
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once(':'))
            .map(|(name, _)| name.to_ascii_lowercase())
            .collect();
        names.sort_unstable();
        assert_eq!(names, ["accept", "accept-encoding", "host", "user-agent"]);
    }
}

#[tokio::test]
async fn the_server_itself_is_never_fetched_even_if_allowed() {
    let own = Server::always(page("text/plain", "own endpoint"));
    let port = own.address.port();
    let allow =
        ["127.0.0.1", "[::ffff:127.0.0.1]", "0.0.0.0", "own.example"].map(|host| format!("http://{host}:{port}"));
    for listening in [own.address, format!("0.0.0.0:{port}").parse().unwrap()] {
        let config = WebConfig { allow: allow.to_vec(), own_addresses: vec![listening], ..WebConfig::default() };
        for origin in &allow {
            let reader = reader_where_names_lead_to(config.clone(), &["127.0.0.1"]);
            assert_refused(reader.fetch(origin).await, "blocked address `", origin);
        }
    }
    let config = WebConfig { allow: allow.to_vec(), own_hosts: vec!["OWN.example.".into()], ..WebConfig::default() };
    let reader = reader_where_names_lead_to(config, &["127.0.0.1"]);
    for url in [&allow[3], "https://own.example/mcp", "http://own.example./"] {
        assert_refused(reader.fetch(url).await, "blocked address `own.example", url);
    }
    assert!(own.requests().is_empty());
}

#[test]
fn a_proxy_in_the_environment_is_not_used() {
    let proxy = Server::always(page("text/plain", "from the proxy"));
    let name = "web::guard::child_that_fetches_with_a_proxy_in_its_environment";
    let mut child = Command::new(std::env::current_exe().unwrap());
    child.args(["--ignored", "--exact", name]);
    for variable in ["http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        child.env(variable, proxy.origin());
    }
    let output = child.env_remove("no_proxy").env_remove("NO_PROXY").output().unwrap();
    let stdout = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && stdout.contains("1 passed"), "{stdout}");
    assert!(proxy.requests().is_empty());
}

#[tokio::test]
#[ignore = "run by the test above, which sets the environment"]
async fn child_that_fetches_with_a_proxy_in_its_environment() {
    let server = Server::always(page("text/plain", "direct"));
    assert_eq!(fetch(&server, "/").await.unwrap().text.as_deref(), Some("direct"));
    let reader = reader_where_names_lead_to(WebConfig::default(), &["10.0.0.1"]);
    for url in ["http://good.example/", "https://good.example/"] {
        assert_refused(reader.fetch(url).await, "blocked address `good.example`", url);
    }
}
