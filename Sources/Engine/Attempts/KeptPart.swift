import Downloads

/// The bytes of an attempt that the job keeps.
struct KeptPart: Sendable {
    /// The part that can be promised; nil: the job keeps its earlier promise, unless that part is lost.
    var part: Part?
    /// A sync failed: written bytes are lost, and `part` is a copy of the bytes that were durable before.
    var isRolledBack = false
    /// Another program has changed the file, so none of its bytes is trusted.
    var isForeign = false
}
