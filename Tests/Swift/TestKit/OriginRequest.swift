/// A request as the origin received it.
public struct RecordedRequest: Sendable {
    public let method: String
    /// The target of the request line, with its query.
    public let target: String
    public var headers: [(name: String, value: String)]
    public let body: [UInt8]
    /// The number of its connection, counted from 1.
    public let connection: Int

    /// The target without its query, under which resources are registered. An origin that is used as an HTTP proxy gets
    /// whole URLs, and serves their paths for every host.
    public var path: String {
        let path = target.prefix { $0 != "?" }
        guard let scheme = path.firstRange(of: "://") else { return String(path) }
        return String(path[scheme.upperBound...].drop { $0 != "/" })
    }

    public func header(_ name: String) -> String? {
        headers.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    public func headers(_ name: String) -> [String] {
        headers.filter { $0.name.lowercased() == name.lowercased() }.map(\.value)
    }
}

extension RecordedRequest {
    /// Parses a head (without the empty line). nil if it is not HTTP.
    init?(head: String, body: [UInt8], connection: Int) {
        var lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
        let words = lines.popFirst()?.split(separator: " ") ?? []
        guard words.count == 3, words[2].hasPrefix("HTTP/") else { return nil }
        method = String(words[0])
        target = String(words[1])
        headers = lines.compactMap(Self.parseField)
        self.body = body
        self.connection = connection
    }

    private static func parseField(_ line: Substring) -> (name: String, value: String)? {
        guard let colon = line.firstIndex(of: ":") else { return nil }
        let value = line[line.index(after: colon)...].drop { $0 == " " }
        return (String(line[..<colon]), String(value))
    }
}
