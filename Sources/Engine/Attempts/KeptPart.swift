import Downloads

/// The bytes of an attempt that its job keeps.
struct KeptPart: Sendable {
    /// The part that can be promised; nil: the job keeps its earlier promise, unless that is lost.
    var part: Part?
    /// A sync has failed: bytes that were written are lost, and `part` is a copy of those that were durable before.
    var isRolledBack = false
    /// Another program has changed the file: none of its bytes is trusted.
    var isForeign = false
}
