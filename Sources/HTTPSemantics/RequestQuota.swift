import Formats
import Foundation
import RawStructuredFieldValues

/// How many more requests a server allows, and for how long: the fields of a response that say so.
///
/// The forms are, in this order: `RateLimit` as an item list (draft-ietf-httpapi-ratelimit-headers-10, with `r` and `t`) and as a
/// dictionary (draft 07, with `remaining` and `reset`), `RateLimit-Remaining` with `RateLimit-Reset` (draft 06 and before), and
/// `X-RateLimit-Remaining` with `X-RateLimit-Reset`. Some servers send the time of the reset in the last one instead of the seconds
/// until it.
public struct RequestQuota: Sendable, Equatable {
    /// Requests that the server still accepts.
    public var remaining: Int64
    /// Seconds until the server accepts more, from 0 to a day.
    public var seconds: Double
    /// The requests of a whole window; nil if the server does not say.
    public var whole: Int64?

    /// A longer window is taken for a day, as a longer `Retry-After` is.
    public static let longest = 86_400.0

    public init(remaining: Int64, seconds: Double, whole: Int64? = nil) {
        self.remaining = remaining
        self.seconds = min(max(0, seconds), Self.longest)
        self.whole = whole
    }

    /// The quota of the response that ends first; of several policies, the one with the fewest requests a second.
    ///
    /// - Returns: nil if the response has none of the fields, or if none can be read.
    public init?(_ headers: [(name: String, value: String)], at now: Date) {
        // Few responses have one of the fields.
        guard headers.contains(where: { Self.mayBeField($0.name) }) else { return nil }
        let list = headers.values(of: "ratelimit").joined(separator: ", ")
        let policies = headers.values(of: "ratelimit-policy").joined(separator: ", ")
        let quotas = Self.items(list, policies) + Self.dictionary(list)
        guard let quota = quotas.min(by: { $0.rate < $1.rate }) ?? Self.separate(headers, at: now) else { return nil }
        self = quota
    }

    private static func mayBeField(_ name: String) -> Bool {
        let bytes = name.utf8
        guard bytes.count >= 9, let first = bytes.first?.asciiLowercased else { return false }
        return (first == UInt8(ascii: "r") || first == UInt8(ascii: "x")) && name.lowercased().contains("ratelimit")
    }

    /// Seconds until the server accepts a request; nil if it accepts one now.
    public var delay: Double? { remaining == 0 && seconds > 0 ? seconds : nil }

    /// Requests a second.
    private var rate: Double { seconds > 0 ? Double(remaining) / seconds : .infinity }

    /// `"default";r=50;t=30`. An item without `t` has no end, and is left out.
    private static func items(_ list: String, _ policies: String) -> [RequestQuota] {
        let wholes = items(policies).reduce(into: [String: Double]()) { $0[$1.name] = $1.parameters["q"] }
        return items(list).compactMap { item in
            guard let remaining = item.parameters["r"], let seconds = item.parameters["t"] else { return nil }
            return RequestQuota(
                remaining: clamped(remaining), seconds: seconds, whole: wholes[item.name].map(clamped))
        }
    }

    private static func items(_ list: String) -> [(name: String, parameters: [String: Double])] {
        var parser = StructuredFieldValueParser(Array(list.utf8))
        guard !list.isEmpty, list.utf8.count <= StructuredDictionary.longest,
            let members = try? parser.parseListFieldValue()
        else { return [] }
        return members.compactMap { member -> (name: String, parameters: [String: Double])? in
            guard case .item(let item) = member else { return nil }
            let parameters = item.rfc9651Parameters.reduce(into: [String: Double]()) { $0[$1.0] = number($1.1) }
            switch item.rfc9651BareItem {
            case .string(let name), .token(let name): return (name, parameters)
            default: return nil
            }
        }
    }

    /// `limit=100, remaining=50, reset=5`.
    private static func dictionary(_ list: String) -> [RequestQuota] {
        var parser = StructuredFieldValueParser(Array(list.utf8))
        guard !list.isEmpty, list.utf8.count <= StructuredDictionary.longest,
            let members = try? parser.parseDictionaryFieldValue()
        else { return [] }
        func number(_ name: String) -> Double? {
            if case .item(let item)? = members[name] { Self.number(item.rfc9651BareItem) } else { nil }
        }
        guard let remaining = number("remaining"), let seconds = number("reset") else { return [] }
        return [RequestQuota(remaining: clamped(remaining), seconds: seconds, whole: number("limit").map(clamped))]
    }

    private static func number(_ value: RFC9651BareItem) -> Double? {
        switch value {
        case .integer(let number) where number >= 0: Double(number)
        case .decimal(let number) where number.mantissa >= 0: Double(number)
        default: nil
        }
    }

    private static func separate(_ headers: [(name: String, value: String)], at now: Date) -> RequestQuota? {
        for prefix in ["ratelimit", "x-ratelimit"] {
            func number(_ name: String) -> Double? {
                // A list of policies (`100, 100;w=60`) begins with the one that ends first.
                let first = headers.value(of: "\(prefix)-\(name)")?.split(whereSeparator: { ",;".contains($0) }).first
                return first.flatMap { Double($0.trimmingHTTPSpace) }.flatMap { $0 >= 0 ? $0 : nil }
            }
            guard let remaining = number("remaining") else { continue }
            let reset =
                number("reset")
                ?? headers.value(of: "\(prefix)-reset").flatMap(Date.init(httpDate:)).map {
                    max(0, $0.timeIntervalSince(now))
                }
            guard let reset else { continue }
            return RequestQuota(
                remaining: clamped(remaining), seconds: Self.seconds(until: reset, now),
                whole: number("limit").map(clamped))
        }
        return nil
    }

    /// A large number is a time in seconds since 1970, or in milliseconds, and not a duration.
    private static func seconds(until reset: Double, _ now: Date) -> Double {
        switch reset {
        case ..<1e8: reset
        case ..<1e11: reset - now.timeIntervalSince1970
        default: reset / 1000 - now.timeIntervalSince1970
        }
    }

    private static func clamped(_ number: Double) -> Int64 { Int64(min(number, 1e15)) }
}
