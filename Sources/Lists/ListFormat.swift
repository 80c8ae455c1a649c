import Formats
import HTTPSemantics

/// A kind of text that names many downloads.
public enum ListFormat: String, Sendable, CaseIterable {
    /// A request for a job, as JSON, on each line.
    case ndjson
    /// Values separated by tabs, below a line with the names of the columns.
    case tsv
    /// A URL on each line (RFC 2483, section 5).
    case urls
    /// A digest and a file name on each line, as sha256sum and its relatives write it.
    case sha256sum
    /// A file report of the European Nucleotide Archive.
    case ena
    /// An input file or session file of aria2.
    case aria2
    /// A Metalink document (RFC 5854, or version 3).
    case metalink

    /// The format of a list that its sender describes by a media type alone; nil if the type has several formats, or none.
    public init?(mediaType: String) {
        guard let format = Self.allCases.first(where: { $0.mediaType == mediaType }) else { return nil }
        self = format
    }

    /// The types that a list can be sent as. A page of another origin can send none of them without permission.
    public static let mediaTypes = allCases.compactMap(\.mediaType) + ["application/octet-stream"]

    private var mediaType: String? {
        switch self {
        case .ndjson: "application/x-ndjson"
        case .tsv: "text/tab-separated-values"
        case .urls: "text/uri-list"
        case .metalink: "application/metalink4+xml"
        case .sha256sum, .ena, .aria2: nil
        }
    }

    /// Why a base cannot be used with this format, as the end of a sentence; nil: it can.
    public func fault(inBase base: String?) -> String? {
        switch (self, base) {
        case (.sha256sum, nil): "is missing: the URL of the folder that has the files"
        case (_, nil): nil
        case (.ndjson, _), (.metalink, _): "has no meaning for the format \(rawValue), whose URLs are complete"
        case (.aria2, let base?): base.hasPrefix("/") ? nil : "must be an absolute path: the folder of aria2"
        case (.ena, "http://"), (.ena, "https://"): nil
        case (.tsv, let base?), (.urls, let base?), (.ena, let base?), (.sha256sum, let base?):
            URLRule.fault(in: base) ?? (base.contains { $0 == "?" || $0 == "#" } ? "has a query or a fragment" : nil)
        }
    }
}

/// One download of a list: the members of a request for a job, or why there is none.
public struct ListEntry: Sendable, Equatable {
    /// The line in the list, counted from 1.
    public var line: Int
    public var job: Result<JSONObject, ListFault>
    /// What the job does not have of the entry, as sentences.
    public var remarks: [String]

    public init(line: Int, _ job: JSONObject, remarks: [String] = []) {
        self.line = line
        self.job = .success(job)
        self.remarks = remarks
    }

    init(line: Int, _ fault: ListFault) {
        self.line = line
        job = .failure(fault)
        remarks = []
    }
}

/// What is wrong with a line, as a sentence.
public struct ListFault: Error, Equatable, Sendable {
    public var reason: String
    /// Whether the lines that follow cannot be read.
    public var isFatal: Bool

    public init(_ reason: String, isFatal: Bool = false) {
        self.reason = reason
        self.isFatal = isFatal
    }
}

/// The URLs of a list that can be relative: a value without a scheme follows the base.
struct BaseURL: Sendable {
    let text: String?

    init(_ base: String?) { text = base.map { $0.hasSuffix("/") ? $0 : $0 + "/" } }

    func url(_ value: String) -> String {
        guard let text, !Self.hasScheme(value) else { return value }
        return text + value.drop { $0 == "/" }
    }

    static func hasScheme(_ value: String) -> Bool {
        let scheme = value.utf8.prefix { $0.isASCIIAlphanumeric || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E }
        let rest = value.utf8[scheme.endIndex...]
        return !scheme.isEmpty && (rest.starts(with: "://".utf8) || value.hasPrefix("rehearse:"))
    }
}
