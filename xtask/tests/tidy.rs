//! The tidy checks as an ordinary test.

#[test]
fn the_tree_is_tidy() {
    let findings = xtask::tidy::check(&xtask::root());
    assert!(findings.is_empty(), "{}", findings.join("\n"));
}
