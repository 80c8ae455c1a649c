import Formats

/// The position of a request in a distributed trace (W3C Trace Context, level 1: w3.org/TR/trace-context-1).
public struct TraceContext: Sendable, Hashable {
    public let parent: String
    /// What the systems on the way have added; nil if there is nothing, or if it was invalid.
    public let state: String?

    /// The number of bytes of `tracestate` that are kept. The specification asks for at least 512.
    public static let longestState = 512

    /// nil if `parent` is invalid: then the receiver ignores both fields.
    ///
    /// - Parameters:
    ///   - parent: the value of `traceparent`.
    ///   - state: the value of `tracestate`; several fields are joined by a comma.
    public init?(parent: String, state: String? = nil) {
        let bytes = Array(parent.utf8)
        guard bytes.count >= Self.length, [2, 35, 52].allSatisfy({ bytes[$0] == Self.dash }) else { return nil }
        func digits(_ range: Range<Int>) -> String? {
            bytes[range].allSatisfy(Self.isDigit) ? String(decoding: bytes[range], as: UTF8.self) : nil
        }
        guard let version = digits(0..<2), version != "ff", let traceID = digits(3..<35),
            let parentID = digits(36..<52), let flags = digits(53..<55)
        else { return nil }
        // Later versions may add fields behind another dash.
        let mayBeLonger = version != "00"
        guard bytes.count == Self.length || (mayBeLonger && bytes[Self.length] == Self.dash) else { return nil }
        guard !traceID.allSatisfy({ $0 == "0" }), !parentID.allSatisfy({ $0 == "0" }) else { return nil }
        self.parent = "00-\(traceID)-\(parentID)-\(flags)"
        self.state = state.flatMap(Self.checked)
    }

    /// 32 hexadecimal digits in lower case, not all of them 0.
    public var traceID: String { String(parent.dropFirst(3).prefix(32)) }
    /// The request that the sender was carrying out: 16 hexadecimal digits in lower case, not all of them 0.
    public var parentID: String { String(parent.dropFirst(36).prefix(16)) }
    /// Two hexadecimal digits. The lowest bit says that the sender may have recorded the trace.
    public var flags: String { String(parent.suffix(2)) }

    public var fields: [(name: String, value: String)] {
        [("traceparent", parent)] + (state.map { [("tracestate", $0)] } ?? [])
    }

    /// The context of a request that this service sends: the same trace, with a new identifier of the request.
    public func child(random: UInt64 = .random(in: 1 ... .max)) -> TraceContext {
        TraceContext(valid: "00-\(traceID)-\(max(random, 1).digits(16, radix: 16))-\(flags)", state: state)
    }

    private init(valid parent: String, state: String?) {
        self.parent = parent
        self.state = state
    }

    private static let length = 55
    private static let dash = UInt8(ascii: "-")

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte.isASCIIDigit || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte
    }

    /// The members of a `tracestate` without blanks around them; nil if it is invalid, too long or empty.
    private static func checked(_ state: String) -> String? {
        let members = state.split(separator: ",").map { $0.trimming(\.isHTTPSpace) }.filter { !$0.isEmpty }
        let joined = members.joined(separator: ",")
        guard !members.isEmpty, members.count <= 32, joined.utf8.count <= longestState,
            members.allSatisfy(isMember), Set(members.map(key)).count == members.count
        else { return nil }
        return joined
    }

    private static func key(_ member: Substring) -> Substring { member.prefix { $0 != "=" } }

    private static func isMember(_ member: Substring) -> Bool {
        let key = key(member)
        let value = member.dropFirst(key.count + 1)
        // Of 256 characters each, without a blank at the end. A tenant has an `@` before the name of its system.
        return (1...256).contains(key.utf8.count) && key.count < member.count
            && key.utf8.first.map(startsKey) == true && key.utf8.allSatisfy(isOfKey)
            && (1...256).contains(value.utf8.count) && value.utf8.allSatisfy(isOfValue) && value.last != " "
    }

    private static func startsKey(_ byte: UInt8) -> Bool {
        byte.isASCIIDigit || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte
    }

    private static func isOfKey(_ byte: UInt8) -> Bool { startsKey(byte) || "_-*/@".utf8.contains(byte) }

    private static func isOfValue(_ byte: UInt8) -> Bool {
        0x20...0x7E ~= byte && byte != UInt8(ascii: ",") && byte != UInt8(ascii: "=")
    }
}
