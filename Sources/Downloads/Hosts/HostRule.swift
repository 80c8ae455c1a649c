import Formats
import HTTPSemantics

/// How requests to some hosts are limited. The service has rules, and a session has rules for its own jobs. Both apply.
public struct HostRule: Sendable, Equatable, Codable {
    public var hosts: HostSelector
    /// Requests a second, those of redirects and ranges included; nil: any number.
    public var requestsPerSecond: Double?
    /// Simultaneous connections; nil: those that the service and the session allow.
    public var connections: Int?
    /// Statuses besides 429 that mean that requests come too fast.
    public var pauseStatuses: [Int] = []
    /// Bytes a second of all transfers together; nil: no limit.
    public var rateLimit: Int64?

    public init(_ hosts: HostSelector) { self.hosts = hosts }

    private enum CodingKeys: String, CodingKey, CaseIterable {
        case hosts = "host"
        case requestsPerSecond = "requests_per_second"
        case connections
        case pauseStatuses = "pause_statuses"
        case rateLimit = "rate_limit_bytes_per_second"
    }
}

/// The hosts that a rule is for: a name, an address, or all names below a name (`*.example.com`), with or without a port; or `*` for
/// all hosts.
public struct HostSelector: Sendable, Equatable, CustomStringConvertible {
    /// nil: any host.
    private let pattern: HostPattern?
    /// nil: any port.
    private let port: Int?

    public init?(_ text: String) {
        // The colons of an IPv6 address are within brackets, or there are several.
        let colon = text.lastIndex(of: ":").flatMap { colon in
            let isInAddress = text.last == "]" || text[..<colon].contains(":") && !text.hasPrefix("[")
            return isInAddress ? nil : colon
        }
        let host = colon.map { String(text[..<$0]) } ?? text
        port = colon.flatMap { UInt16(text[text.index(after: $0)...]) }.map(Int.init)
        if colon != nil, port == nil || port == 0 { return nil }
        if host == "*" {
            pattern = nil
            return
        }
        guard let pattern = HostPattern(host) else { return nil }
        self.pattern = pattern
    }

    public var description: String {
        let host = pattern?.description ?? "*"
        guard let port else { return host }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }

    /// - Parameter host: `host:port`, as `URLRule.hostAndPort` writes it.
    func matches(_ host: RequestedHost, port: Int?) -> Bool {
        (self.port == nil || self.port == port) && pattern?.matches(host) ?? true
    }

    /// Rules for fewer hosts come first: names and addresses before patterns, longer patterns before shorter ones, and those with a
    /// port before those without.
    var specificity: Int {
        guard let pattern else { return port == nil ? 0 : 1 }
        let text = pattern.description
        return (text.hasPrefix("*") ? 2 * text.utf8.count : 10_000) + (port == nil ? 0 : 1)
    }
}

extension HostSelector: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        guard let selector = HostSelector(text) else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "'\(text)' is no host"))
        }
        self = selector
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

/// Rules in the order in which they are tried.
public struct HostRules: Sendable, Equatable {
    /// As they were given.
    public let rules: [HostRule]
    private let ordered: [HostRule]

    public static let most = 1000

    public init(_ rules: [HostRule] = []) {
        self.rules = rules
        // Of equal ones, the first one decides.
        ordered = rules.enumerated().sorted {
            ($1.element.hosts.specificity, $0.offset) < ($0.element.hosts.specificity, $1.offset)
        }.map(\.element)
    }

    /// The rule for a host; nil if there is none.
    ///
    /// - Parameter host: `host:port`, as `URLRule.hostAndPort` writes it.
    public subscript(host: String) -> HostRule? {
        guard !ordered.isEmpty, let colon = host.lastIndex(of: ":") else { return nil }
        let (name, port) = (RequestedHost(String(host[..<colon])), Int(host[host.index(after: colon)...]))
        return ordered.first { $0.hosts.matches(name, port: port) }
    }
}

extension HostRules: Codable {
    public init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode([HostRule].self))
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rules)
    }
}

extension HostRules: StoredWithDefault { static var missing: HostRules { HostRules() } }

// MARK: - Documents

/// Why a rule is refused.
public struct HostRuleFault: Error, Sendable, Equatable {
    /// The member of the rule; nil: the whole rule.
    public var member: String?
    /// The end of a sentence, without its full stop.
    public var why: String
    public var isUnknownMember = false

    init(_ member: String?, _ why: String, isUnknownMember: Bool = false) {
        self.member = member
        self.why = why
        self.isUnknownMember = isUnknownMember
    }
}

extension HostRule {
    /// Reads the document of a rule.
    public init(_ json: JSON) throws(HostRuleFault) {
        guard let object = json.objectValue else { throw HostRuleFault(nil, "must be an object") }
        let names = CodingKeys.allCases.map(\.rawValue)
        if let unknown = object.names.first(where: { !names.contains($0) }) {
            throw HostRuleFault(unknown, "is not a member of a rule", isUnknownMember: true)
        }
        func value<Value>(_ key: CodingKeys, _ rule: String, _ read: (JSON) -> Value?) throws(HostRuleFault) -> Value? {
            guard let value = object[key.rawValue], value != .null else { return nil }
            guard let read = read(value) else { throw HostRuleFault(key.rawValue, rule) }
            return read
        }
        let hosts = try value(
            .hosts, "must be a host such as files.example.com, *.example.com, 10.0.0.1 or files.example.com:8080, or *"
        ) { $0.stringValue.flatMap { HostSelector($0) } }
        guard let hosts else { throw HostRuleFault(CodingKeys.hosts.rawValue, "is missing") }
        self.init(hosts)
        requestsPerSecond = try value(.requestsPerSecond, "must be a number from 0.001 to 10000") {
            $0.numberValue.flatMap { (0.001...10_000).contains($0) ? $0 : nil }
        }
        connections = try value(.connections, "must be a whole number from 1 to 10000") {
            $0.integerValue.flatMap { (1...10_000).contains($0) ? Int($0) : nil }
        }
        pauseStatuses =
            try value(.pauseStatuses, "must be a list of at most 20 statuses from 400 to 599") { list in
                let statuses = list.arrayValue?.compactMap(\.integerValue).filter { (400...599).contains($0) }
                return statuses?.count == list.arrayValue?.count && statuses?.count ?? 21 <= 20
                    ? statuses?.map(Int.init) : nil
            } ?? []
        rateLimit = try value(.rateLimit, "must be a whole number of bytes from 1 to \(Int64(1) << 40)") {
            $0.integerValue.flatMap { (1...1 << 40).contains($0) ? $0 : nil }
        }
        let isEmpty = requestsPerSecond == nil && connections == nil && pauseStatuses.isEmpty && rateLimit == nil
        guard !isEmpty else { throw HostRuleFault(nil, "limits nothing") }
    }

    public var json: JSON {
        let members: [(CodingKeys, JSON?)] = [
            (.hosts, .string(hosts.description)), (.requestsPerSecond, requestsPerSecond.map(JSON.number)),
            (.connections, connections.map(JSON.count)),
            (.pauseStatuses, pauseStatuses.isEmpty ? nil : .array(pauseStatuses.map(JSON.count))),
            (.rateLimit, rateLimit.map(JSON.integer)),
        ]
        return .object(members.reduce(into: JSONObject()) { $0[$1.0.rawValue] = $1.1 })
    }

    /// The document of a rule that is written as a text: `*.example.com requests_per_second=3 pause_statuses=403,503`.
    ///
    /// - Throws: if a word has no `=`. The values are checked with the document.
    public static func document(_ text: String) throws(HostRuleFault) -> JSON {
        var words = text.split(separator: " ").map(String.init)
        guard !words.isEmpty else { throw HostRuleFault(nil, "is empty") }
        var object: JSONObject = [:]
        object[CodingKeys.hosts.rawValue] = .string(words.removeFirst())
        for word in words {
            let halves = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2 else { throw HostRuleFault(nil, "has '\(word)', which is no NAME=VALUE") }
            object[String(halves[0])] = value(of: CodingKeys(rawValue: String(halves[0])), String(halves[1]))
        }
        return .object(object)
    }

    private static func value(of key: CodingKeys?, _ text: String) -> JSON {
        switch key {
        case .requestsPerSecond: Double(text).map(JSON.number) ?? .string(text)
        case .connections: Int64(text).map(JSON.integer) ?? .string(text)
        case .rateLimit: Quantity.bytes(text).map(JSON.integer) ?? .string(text)
        case .pauseStatuses:
            .array(text.split(separator: ",").map { Int64($0).map(JSON.integer) ?? .string(String($0)) })
        case .hosts, nil: .string(text)
        }
    }
}
