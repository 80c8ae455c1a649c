import HTTPSemantics

/// Whether fetchd uses mirrors that the server of a job names.
public enum MirrorPolicy: String, Sendable, Codable, CaseIterable {
    /// Only the URLs of the job.
    case given
    /// Also the mirrors in `Link` fields (RFC 6249), and in a Metalink that such a field names.
    case discover
}

/// What the server of a job has said about other sources of the file.
public struct Discovery: Sendable, Hashable, Codable {
    /// Other URLs of the file, the best first.
    public var mirrors: [String]
    /// The digest that files of all sources must have: SHA-256 or SHA-512; nil: the server has stated none. Without it, a mirror
    /// must have the entity tag of the server (RFC 6249, section 7).
    public var checksum: Checksum?
    public var pieces: PieceDigests?
    /// Mirrors whose bytes were among those that did not match a digest. They are not used again.
    public var suspects: [DroppedMirror]

    public init(
        mirrors: [String] = [], checksum: Checksum? = nil, pieces: PieceDigests? = nil, suspects: [DroppedMirror] = []
    ) {
        self.mirrors = mirrors
        self.suspects = suspects
        self.checksum = checksum
        self.pieces = pieces
    }

    /// The URLs of a job together, its own included.
    public static let mostSources = 16
}

/// What the heads of the responses for a file offer: those of redirects, and of the file.
public struct MirrorOffer: Sendable, Equatable {
    public struct Head: Sendable {
        public var url: String
        public var status: Int
        public var headers: [(name: String, value: String)]

        public init(url: String, status: Int, headers: [(name: String, value: String)]) {
            self.url = url
            self.status = status
            self.headers = headers
        }
    }

    /// Mirrors, the best first.
    public private(set) var duplicates: [String] = []
    /// A Metalink that describes the file.
    public private(set) var description: String?
    public private(set) var checksum: Checksum?
    /// Of the whole file, in bytes.
    public private(set) var size: Int64?

    public init(_ heads: [Head]) {
        var found: [(priority: Int, url: String)] = []
        var digests: [Checksum] = []
        for head in heads {
            for link in WebLink.links(head.headers) {
                guard let url = URLRule.resolved(link.target, against: head.url) else { continue }
                if link.relations.contains("duplicate") { found.append((Self.priority(of: link), url)) }
                if link.relations.contains("describedby"), link.isMetalink { description = description ?? url }
            }
            let facts = ResponseFacts(status: head.status, headers: head.headers)
            // The digest of a redirect is that of the file (RFC 6249, section 6); `Repr-Digest` would be that of the redirect's body.
            digests += DigestClaim.claims(of: head).filter { !facts.isRedirect || $0.claimant == .digest }.map(
                \.checksum)
            if !facts.isRedirect { size = facts.contentLength }
        }
        let sorted = found.enumerated().sorted { ($0.element.priority, $0.offset) < ($1.element.priority, $1.offset) }
        for url in sorted.map(\.element.url) where !duplicates.contains(url) { duplicates.append(url) }
        checksum = Self.strongest(of: digests)
    }

    /// RFC 6249, section 3.1: 1 is the best, and the default is the worst.
    private static func priority(of link: WebLink) -> Int {
        link.parameters["pri"].flatMap { Int($0) }.flatMap { 1...999_999 ~= $0 ? $0 : nil } ?? 999_999
    }

    /// nil if the digests contradict each other.
    private static func strongest(of digests: [Checksum]) -> Checksum? {
        for algorithm in [Checksum.Algorithm.sha512, .sha256] {
            let stated = Set(digests.filter { $0.algorithm == algorithm })
            if stated.count > 1 { return nil }
            if let digest = stated.first { return digest }
        }
        return nil
    }

    /// The offer with what the described document says about the file. A document about a file of another size or digest is ignored.
    ///
    /// - Parameter mine: the URLs of the job, which need not be found.
    public func discovery(
        adding document: (urls: [String], size: Int64?, checksum: Checksum?, pieces: PieceDigests?)?,
        besides mine: [String]
    ) -> Discovery {
        var discovery = Discovery(mirrors: duplicates, checksum: checksum)
        if let document, Self.agree(document.size, size), document.checksum?.isStrong ?? true,
            document.checksum?.algorithm != checksum?.algorithm || document.checksum == checksum
        {
            discovery.mirrors += document.urls
            discovery.checksum = checksum ?? document.checksum
            discovery.pieces = document.pieces
        }
        var known = Set(mine)
        discovery.mirrors = discovery.mirrors.filter { known.insert($0).inserted }
        discovery.mirrors = Array(discovery.mirrors.prefix(max(0, Discovery.mostSources - mine.count)))
        return discovery
    }

    private static func agree(_ one: Int64?, _ other: Int64?) -> Bool {
        guard let one, let other else { return true }
        return one == other
    }
}

extension WebLink {
    fileprivate var isMetalink: Bool { parameters["type"]?.lowercased() == "application/metalink4+xml" }
}

extension Checksum {
    public var isStrong: Bool { algorithm == .sha256 || algorithm == .sha512 }
}

extension DigestClaim {
    fileprivate static func claims(of head: MirrorOffer.Head) -> [DigestClaim] {
        let isFile = 200...299 ~= head.status
        return ResponseFacts(status: isFile ? head.status : 206, headers: head.headers).label.digests
    }
}
