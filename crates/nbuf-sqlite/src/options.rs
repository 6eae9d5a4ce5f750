//! How a cache is set: parameters of the URI, then variables of the environment, then defaults.

use nbuf::cache::cached::{PAGE_BYTES_MAX, PAGE_BYTES_MIN};
use nbuf::cache::policy::Choice;
use nbuf::units::{Bytes, Size};

/// How a cache is set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options {
    pub pages: u32,
    pub page_bytes: u32,
    pub policy: Choice,
}

impl Options {
    /// Reads the parameters `nbuf_size`, `nbuf_page` and `nbuf_policy`, which `given` finds by name. An error says
    /// what is wrong and what to do.
    pub(crate) fn read(given: impl Fn(&str) -> Option<String>) -> Result<Self, String> {
        let size = bytes("nbuf_size", &given("nbuf_size").unwrap_or_else(|| "64MiB".to_owned()))?;
        let page = bytes("nbuf_page", &given("nbuf_page").unwrap_or_else(|| "4KiB".to_owned()))?;
        let page_bytes = u32::try_from(page).ok().filter(|bytes| {
            bytes.is_power_of_two() && (PAGE_BYTES_MIN..=PAGE_BYTES_MAX).contains(bytes)
        });
        let page_bytes = page_bytes.ok_or_else(|| {
            format!("nbuf_page is {page} B: give a power of two from {PAGE_BYTES_MIN} to {PAGE_BYTES_MAX}")
        })?;
        let pages = u32::try_from(size / page).ok().filter(|pages| *pages > 0);
        let pages = pages.ok_or_else(|| {
            format!("nbuf_size is {size} B: give at least a page of {page} B, and fewer than 2^32")
        })?;
        let whole = usize::try_from(size).unwrap_or(usize::MAX);
        if Vec::<u8>::new().try_reserve_exact(whole).is_err() {
            return Err(format!("nbuf_size is {size} B, and there is no such memory: give less"));
        }
        let policy = given("nbuf_policy").unwrap_or_else(|| "s3-fifo".to_owned());
        let policy: Choice = policy.parse().map_err(|error| format!("nbuf_policy: {error}"))?;
        if policy.row().name == "opt" {
            return Err("nbuf_policy is opt, which needs the future: give another".to_owned());
        }
        Ok(Self { pages, page_bytes, policy })
    }
}

fn bytes(name: &str, text: &str) -> Result<u64, String> {
    match text.parse() {
        Ok(Size::Absolute(Bytes(bytes))) => Ok(bytes),
        _ => Err(format!("{name} is `{text}`: give bytes, such as 64MiB")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(given: &[(&str, &str)]) -> Result<(u32, u32, &'static str), String> {
        let find = |name: &str| given.iter().find(|(of, _)| *of == name);
        let options = Options::read(|name| find(name).map(|(_, value)| (*value).to_owned()))?;
        Ok((options.pages, options.page_bytes, options.policy.row().name))
    }

    #[test]
    fn what_is_not_given_has_a_default_and_what_is_wrong_is_refused() {
        assert_eq!(read(&[]), Ok((16384, 4096, "s3-fifo")));
        let all = [("nbuf_size", "1MiB"), ("nbuf_page", "1KiB"), ("nbuf_policy", "lru")];
        assert_eq!(read(&all), Ok((1024, 1024, "lru")));
        for (name, value, begin) in [
            ("nbuf_size", "much", "nbuf_size is `much`: give bytes"),
            ("nbuf_size", "10%", "nbuf_size is `10%`: give bytes"),
            ("nbuf_size", "100", "nbuf_size is 100 B: give at least a page of 4096 B"),
            ("nbuf_size", "4000TiB", "nbuf_size is "),
            ("nbuf_page", "3000", "nbuf_page is 3000 B: give a power of two"),
            ("nbuf_page", "0", "nbuf_page is 0 B: give a power of two"),
            ("nbuf_page", "1MiB", "nbuf_page is 1048576 B: give a power of two"),
            ("nbuf_policy", "best", "nbuf_policy: "),
            ("nbuf_policy", "opt", "nbuf_policy is opt"),
        ] {
            let error = read(&[(name, value)]).unwrap_err();
            assert!(error.starts_with(begin), "{error}");
        }
    }
}
