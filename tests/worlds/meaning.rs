//! Rewritten files: what they say decides.

use std::fs;

use candor::verify::Grade::{self, Additive, Lossy, None};

use super::{Trial, plain, told};

fn rewrite(name: &str, text: &[u8]) -> (Grade, &'static str) {
    let mut trial = Trial::of(&plain());
    let effects = trial.effects(|world| fs::write(world.join(name), text).unwrap());
    assert_eq!(effects.len(), 1, "{:?}", told(&effects));
    (effects[0].grade, effects[0].lens)
}

#[test]
fn a_rewritten_text_is_additive_if_all_old_lines_are_there_in_order() {
    for (text, expected) in [
        ("zero\none\ntwo\nthree\n", Additive),
        ("one\nand a half\ntwo\nthree\n", Additive),
        ("one\ntwo\nthree\nfour", Additive),
        ("two\none\nthree\n", Lossy),
        ("one\ntwo\n", Lossy),
        ("one\nTwo\nthree\nfour\n", Lossy),
        ("", Lossy),
    ] {
        assert_eq!(rewrite("poem.txt", text.as_bytes()).0, expected, "{text:?}");
    }
    // Zeros are no empty line.
    assert_eq!(rewrite("zeros.bin", &[1; 5000]), (Lossy, "files"));
}

#[test]
fn rewritten_json_is_judged_by_what_it_says() {
    for (text, expected) in [
        ("{\"list\":[1,{\"id\":2},3],\n\"big\":12345678901234567890.10}", None),
        ("{\"list\":[1,{\"id\":2},3],\"big\":12345678901234567890.10,\"new\":null}", Additive),
        ("{\"list\":[0,1,{\"id\":2,\"name\":\"b\"},3,4],\"big\":12345678901234567890.10}", Additive),
        // One digit that a double cannot hold.
        ("{\"list\":[1,{\"id\":2},3],\"big\":12345678901234567891.10}", Lossy),
        ("{\"list\":[{\"id\":2},1,3],\"big\":12345678901234567890.10}", Lossy),
        ("{\"list\":[1,{\"id\":2}],\"big\":12345678901234567890.10}", Lossy),
        ("{\"big\":12345678901234567890.10}", Lossy),
        ("{}", Lossy),
        // A key twice: no value, so text.
        ("{\"list\":[1,{\"id\":2},3],\"big\":12345678901234567890.10,\"big\":1}", Lossy),
        ("{\"list\":", Lossy),
    ] {
        assert_eq!(rewrite("data.json", text.as_bytes()).0, expected, "{text}");
    }
    assert_eq!(rewrite("data.json", b"{\"list\":[]}").1, "json");
}

#[test]
fn lines_of_json_are_an_array() {
    for (text, expected) in [
        ("{\"id\":1}\n\n{\"id\":2}\n", None),
        ("{\"id\":0}\n{\"id\":1,\"seen\":true}\n{\"id\":2}\n", Additive),
        ("{\"id\":2}\n{\"id\":1}\n", Lossy),
        ("{\"id\":1}\n{\"id\":3}\n", Lossy),
    ] {
        assert_eq!(rewrite("log.jsonl", text.as_bytes()), (expected, "json"), "{text:?}");
    }
}

#[test]
fn deep_nesting_is_no_lens_and_no_harm() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    assert_eq!(rewrite("data.json", deep.as_bytes()).0, Lossy);
}
