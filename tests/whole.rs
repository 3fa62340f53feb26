//! By default some tests try only a part, because all of it takes longer and hardly finds more.

/// Whether all of it is tried: with `KENTRY_WHOLE=1`.
pub fn is_whole() -> bool {
    std::env::var("KENTRY_WHOLE").is_ok_and(|value| value == "1")
}
