import Formats

/// A delivery's identifier: `dlv_` and a ULID. It is sent as `webhook-id`, so it contains no `.` (Standard Webhooks
/// 1.0.0).
public struct DeliveryID: Sendable, Hashable, CustomStringConvertible {
    public let text: String
    public init(_ text: String) { self.text = text }
    public static func make(_ ulid: ULID) -> DeliveryID { DeliveryID("dlv_\(ulid)") }
    public var description: String { text }
}
