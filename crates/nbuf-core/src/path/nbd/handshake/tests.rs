//! Handshakes: what is agreed on, what is refused, and what TLS changes.

use proptest::prelude::*;

use super::*;

fn exports() -> [Export; 2] {
    [("disc", true), ("tape", false)].map(|(name, is_default)| export(name, is_default))
}

fn export(name: &str, is_default: bool) -> Export {
    let (size_bytes, request_bytes_max) = (1 << 20, 32 << 20);
    Export {
        name: name.to_owned(),
        is_default,
        size_bytes,
        is_read_only: false,
        page_bytes: 4096,
        request_bytes_max,
    }
}

fn option(kind: u32, data: &[u8]) -> Vec<u8> {
    let length = u32::try_from(data.len()).unwrap().to_be_bytes();
    [&wire::OPTION.to_be_bytes(), kind.to_be_bytes().as_slice(), &length, data].concat()
}

fn kinds(mut out: &[u8]) -> Vec<u32> {
    let mut kinds = Vec::new();
    while !out.is_empty() {
        let mut words = Words(out);
        assert_eq!(words.u64(), Some(wire::OPTION_REPLY));
        words.u32();
        kinds.push(words.u32().unwrap());
        words.text().unwrap();
        out = words.0;
    }
    kinds
}

#[test]
fn an_agreement_byte_by_byte() {
    let mut input = 3_u32.to_be_bytes().to_vec();
    input.extend(option(77, b"what is it"));
    input.extend(option(option::SET_META_CONTEXT, &[0; 8]));
    input.extend(option(option::STRUCTURED_REPLY, b""));
    let queries = [prefixed(b"disc"), 1_u32.to_be_bytes().to_vec(), prefixed(b"nbuf:dirty")];
    input.extend(option(option::SET_META_CONTEXT, &queries.concat()));
    input.extend(option(option::GO, &[prefixed(b"other"), vec![0; 2]].concat()));
    input.extend(option(option::GO, &[0; 6]));
    let (mut handshake, mut out) = (Handshake::default(), Vec::new());
    let mut waiting = Vec::new();
    let mut ready = 0;
    for &byte in &input {
        waiting.push(byte);
        let (taken, step) = handshake.take(&exports(), &waiting, &mut out);
        waiting.drain(..taken);
        ready += u32::from(step == Step::Ready);
        assert_ne!(step, Step::Over);
    }
    assert_eq!((ready, waiting.len()), (1, 0));
    assert_eq!(handshake.contexts, [Context::Dirty]);
    let refused = [reply::UNSUPPORTED, reply::INVALID];
    let rest = [reply::ACK, reply::META_CONTEXT, reply::ACK, reply::UNKNOWN];
    let go = [reply::INFO, reply::INFO, reply::ACK];
    assert_eq!(kinds(&out), [&refused[..], &rest, &go].concat());
}

#[test]
fn contexts_are_of_the_export_that_is_chosen() {
    let names =
        |name: &[u8]| [prefixed(name), 1_u32.to_be_bytes().to_vec(), prefixed(b"nbuf:dirty")];
    let go = |name: &[u8]| option(option::GO, &[prefixed(name), vec![0; 2]].concat());
    for (set, chosen, want) in [
        ("disc", "disc", Some((0, 1))),
        ("disc", "tape", Some((1, 0))),
        ("tape", "tape", Some((1, 1))),
        ("tape", "", Some((0, 0))),
        ("disc", "drum", None),
    ] {
        let mut input = 3_u32.to_be_bytes().to_vec();
        input.extend(option(option::STRUCTURED_REPLY, b""));
        input.extend(option(option::SET_META_CONTEXT, &names(set.as_bytes()).concat()));
        input.extend(go(chosen.as_bytes()));
        let (mut handshake, mut out) = (Handshake::default(), Vec::new());
        let (_, step) = handshake.take(&exports(), &input, &mut out);
        let got = (step == Step::Ready).then_some((handshake.chosen, handshake.contexts.len()));
        assert_eq!(got, want, "{set} {chosen}");
    }
    let only = [export("tape", false)];
    let (mut handshake, mut out) = (Handshake::default(), 3_u32.to_be_bytes().to_vec());
    let input = [std::mem::take(&mut out), go(b"")].concat();
    assert_eq!(handshake.take(&only, &input, &mut out).1, Step::More, "by its name only");
}

#[test]
fn what_needs_tls_is_refused_without() {
    let go = option(option::GO, &[0; 6]);
    let begin = |options: &[&[u8]]| [&3_u32.to_be_bytes(), options.concat().as_slice()].concat();
    let run = |secrecy, input: &[u8]| {
        let (mut handshake, mut out) = (Handshake::new(secrecy), Vec::new());
        let (taken, step) = handshake.take(&exports(), input, &mut out);
        (taken, step, kinds(&out), handshake)
    };
    let starttls = option(option::STARTTLS, b"");
    for kind in (2..=11).chain([77]).filter(|&kind| kind != option::STARTTLS) {
        let (_, step, kinds, _) = run(Secrecy::Required, &begin(&[&option(kind, b"")]));
        let is_abort = kind == option::ABORT;
        let want =
            if is_abort { (Step::Over, reply::ACK) } else { (Step::More, reply::TLS_REQUIRED) };
        assert_eq!((step, kinds), (want.0, vec![want.1]), "{kind}");
    }
    let name = begin(&[&option(option::EXPORT_NAME, b"disc")]);
    let (_, step, kinds, _) = run(Secrecy::Required, &name);
    assert_eq!((step, kinds.len()), (Step::Over, 0), "closed without an answer");
    for secrecy in [Secrecy::Absent, Secrecy::Offered] {
        assert_eq!(run(secrecy, &begin(&[&go])).1, Step::Ready);
    }
    let (_, step, kinds, _) = run(Secrecy::Absent, &begin(&[&starttls]));
    assert_eq!((step, kinds), (Step::More, vec![reply::UNSUPPORTED]));
    let data = begin(&[&option(option::STARTTLS, b"x")]);
    assert_eq!(run(Secrecy::Required, &data).2, [reply::INVALID]);
}

#[test]
fn nothing_that_came_in_plain_is_used_after_tls_began() {
    let queries = [prefixed(b"disc"), 1_u32.to_be_bytes().to_vec(), prefixed(b"nbuf:dirty")];
    let set = option(option::SET_META_CONTEXT, &queries.concat());
    let structured = option(option::STRUCTURED_REPLY, b"");
    let starttls = option(option::STARTTLS, b"");
    let before = [&3_u32.to_be_bytes(), structured.as_slice(), &set, &starttls].concat();
    let (mut handshake, mut out) = (Handshake::new(Secrecy::Offered), Vec::new());
    let (taken, step) = handshake.take(&exports(), &before, &mut out);
    assert_eq!((taken, step), (before.len(), Step::Secure));
    assert_eq!((handshake.form, handshake.contexts.len()), (Form::Simple, 0), "forgotten");
    let mut out = Vec::new();
    let again = [starttls.as_slice(), &option(option::GO, &[0; 6])].concat();
    assert_eq!(handshake.take(&exports(), &again, &mut out).1, Step::Ready);
    assert_eq!(kinds(&out), [reply::INVALID, reply::INFO, reply::INFO, reply::ACK]);
    // Whatever stands behind the option, also a part of an option or of TLS.
    for behind in [&option(option::GO, &[0; 6])[..], b"I", &[22, 3, 1, 0, 5]] {
        let (mut handshake, mut out) = (Handshake::new(Secrecy::Required), Vec::new());
        let input = [&3_u32.to_be_bytes(), starttls.as_slice(), behind].concat();
        assert_eq!(handshake.take(&exports(), &input, &mut out).1, Step::Over);
        assert!(out.is_empty(), "not even agreed to");
    }
}

/// The same answer in one part as in two, and a bounded one; what the fuzz target checks too.
fn check(secrecy: Secrecy, bytes: &[u8], cut: usize) {
    let mut whole = Vec::new();
    let (taken, step) = Handshake::new(secrecy).take(&exports(), bytes, &mut whole);
    assert!(taken <= bytes.len() && whole.len() <= 256 * (bytes.len() + 1));
    assert!(secrecy != Secrecy::Required || step != Step::Ready, "served in plain");
    assert!(step != Step::Secure || taken == bytes.len(), "bytes behind STARTTLS are kept");
    let (first, _) = bytes.split_at(cut.min(bytes.len()));
    let (mut handshake, mut parts) = (Handshake::new(secrecy), Vec::new());
    let (early, early_step) = handshake.take(&exports(), first, &mut parts);
    if early_step == Step::More {
        let (late, late_step) = handshake.take(&exports(), &bytes[early..], &mut parts);
        assert_eq!((early + late, late_step), (taken, step));
        assert_eq!(parts, whole);
    }
}

fn secrecy() -> impl Strategy<Value = Secrecy> {
    use Secrecy::{Absent, Agreed, Offered, Required};
    prop::sample::select(vec![Absent, Offered, Required, Agreed])
}

/// Data of an option: noise, or texts and counts as options have them.
fn data() -> impl Strategy<Value = Vec<u8>> {
    let text = prop::sample::select(vec![
        "",
        "disc",
        "tape",
        "base:",
        "base:allocation",
        "nbuf:",
        "nbuf:dirty",
    ]);
    let part = prop_oneof![
        text.prop_map(|text| prefixed(text.as_bytes())),
        (0..4_u32).prop_map(|count| count.to_be_bytes().to_vec()),
        any::<u16>().prop_map(|number| number.to_be_bytes().to_vec()),
        prop::collection::vec(any::<u8>(), 0..20),
    ];
    prop::collection::vec(part, 0..6).prop_map(|parts| parts.concat())
}

proptest! {
    #[test]
    fn no_options_make_it_panic_or_keep_much(
        flags in prop_oneof![4 => 0..4_u32, 1 => any::<u32>()],
        options in prop::collection::vec((0..12_u32, data()), 0..6),
        noise in prop::collection::vec(any::<u8>(), 0..30),
        changed in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
        cut in 0..400_usize,
        secrecy in secrecy(),
    ) {
        let mut bytes = flags.to_be_bytes().to_vec();
        bytes.extend(options.iter().flat_map(|(kind, data)| option(*kind, data)));
        if let Some((at, value)) = changed {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.extend(noise);
        check(secrecy, &bytes, cut);
    }

    #[test]
    fn no_bytes_make_it_panic_or_keep_much(
        input in prop::collection::vec(any::<u8>(), 0..300),
        cut in 0..300_usize,
        secrecy in secrecy(),
    ) {
        check(secrecy, &input, cut);
    }
}

#[test]
fn long_headers_bring_replies_in_chunks_and_cannot_be_taken_back() {
    let check = |options: &[(u32, &[u8])], want: &[u32], form: Form| {
        let mut input = 3_u32.to_be_bytes().to_vec();
        input.extend(options.iter().flat_map(|(kind, data)| option(*kind, data)));
        let (mut handshake, mut out) = (Handshake::default(), Vec::new());
        let (taken, step) = handshake.take(&exports(), &input, &mut out);
        assert_eq!((taken, step), (input.len(), Step::More));
        assert_eq!((kinds(&out).as_slice(), handshake.form), (want, form), "{options:?}");
    };
    let (short, long) = (option::STRUCTURED_REPLY, option::EXTENDED_HEADERS);
    check(&[(short, b"")], &[reply::ACK], Form::Structured);
    check(&[(long, b"")], &[reply::ACK], Form::Extended);
    check(&[(short, b""), (long, b"")], &[reply::ACK; 2], Form::Extended);
    check(&[(long, b"x")], &[reply::INVALID], Form::Simple);
    check(&[(long, b""), (long, b"")], &[reply::ACK, reply::INVALID], Form::Extended);
    let refused = [reply::ACK, reply::EXTENDED_HEADERS_AGREED];
    check(&[(long, b""), (short, b"")], &refused, Form::Extended);
    // What is asked about comes in chunks, so contexts need no other option.
    let queries = [prefixed(b"disc"), 1_u32.to_be_bytes().to_vec(), prefixed(b"nbuf:dirty")];
    let asked = queries.concat();
    let agreed = [reply::ACK, reply::META_CONTEXT, reply::ACK];
    check(&[(long, b""), (option::SET_META_CONTEXT, &asked)], &agreed, Form::Extended);
}
