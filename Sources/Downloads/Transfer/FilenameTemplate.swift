import Formats
import Foundation
import HTTPSemantics

/// A file name with placeholders, which are replaced after the response: `{date}-{suggested_filename}`.
public struct FilenameTemplate: Sendable, Equatable {
    enum Placeholder: String, CaseIterable {
        /// The name in `Content-Disposition`, otherwise the last component of the last URL, after redirects, otherwise
        /// `download`.
        case suggestedFilename = "suggested_filename"
        /// The last component of the requested URL, otherwise `download`.
        case urlBasename = "url_basename"
        /// The extension of the suggested name, without its dot; empty if the name has no extension.
        case fileExtension = "extension"
        case jobID = "job_id"
        /// The host of the requested URL, without the port.
        case host
        /// `20190819`, UTC.
        case date
        /// `20190819152314`, UTC.
        case dateTime = "datetime"
    }

    private enum Piece: Equatable {
        case text(String)
        case placeholder(Placeholder)
    }

    private let pieces: [Piece]

    /// The name that the response suggests, for jobs that specify no file name.
    public static let suggested = FilenameTemplate(pieces: [.placeholder(.suggestedFilename)])

    /// nil if the template is invalid; ``fault(in:)`` gives the reason.
    public init?(_ text: String) {
        guard let template = try? FilenameTemplate(parsing: text) else { return nil }
        self = template
    }

    /// The fault in a template, as the end of a sentence; nil if the template is valid.
    public static func fault(in text: String) -> String? {
        do throws(Fault) {
            _ = try FilenameTemplate(parsing: text)
            return nil
        } catch {
            return error.description
        }
    }

    private struct Fault: Error { let description: String }

    private init(pieces: [Piece]) { self.pieces = pieces }

    private init(parsing text: String) throws(Fault) {
        var pieces: [Piece] = []
        var rest = text[...]
        while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            guard rest[brace] == "{", let end = rest[brace...].firstIndex(of: "}") else {
                throw Fault(description: "has a brace without its counterpart")
            }
            let name = String(rest[rest.index(after: brace)..<end])
            guard let placeholder = Placeholder(rawValue: name) else {
                let known = Placeholder.allCases.map { "{\($0.rawValue)}" }.joined(separator: ", ")
                throw Fault(description: "contains the unknown placeholder {\(name)}; the known ones are \(known)")
            }
            pieces += [.text(String(rest[..<brace])), .placeholder(placeholder)]
            rest = rest[rest.index(after: end)...]
        }
        self.pieces = pieces + [.text(String(rest))]
        // Replaced placeholders are made safe later. The client's own text must be safe by itself.
        if let fault = FilePathRule.fault(inFilename: filled { _ in "x" }) { throw Fault(description: fault) }
    }

    /// Returns one safe path component for any suggestion of the server. A template without placeholders is not changed.
    public func name(contentDisposition: String?, url: String, finalURL: String, job: JobID, at now: Date) -> String {
        guard hasPlaceholder else { return filled { _ in "" } }
        let suggested = SuggestedFilename.from(contentDisposition: contentDisposition, url: finalURL)
        let name = filled { placeholder in
            switch placeholder {
            case .suggestedFilename: suggested
            case .urlBasename: SuggestedFilename.from(contentDisposition: nil, url: url)
            case .fileExtension: Self.fileExtension(of: suggested)
            case .jobID: job.text
            case .host: URLRule.host(of: url)
            case .date: String(Self.digits(now).prefix(8))
            case .dateTime: Self.digits(now)
            }
        }
        return SuggestedFilename.safe(name, bytes: FilePathRule.longestName) ?? job.text
    }

    private var hasPlaceholder: Bool { pieces.contains { if case .placeholder = $0 { true } else { false } } }

    private func filled(_ value: (Placeholder) -> String) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .placeholder(let placeholder): value(placeholder)
            }
        }.joined()
    }

    private static func fileExtension(of name: String) -> String {
        name.dropFirst().lastIndex(of: ".").map { String(name[name.index(after: $0)...]) } ?? ""
    }

    /// The digits of `2019-08-19T15:23:14.250Z`, without the fraction.
    private static func digits(_ date: Date) -> String { String(date.rfc3339.filter(\.isNumber).prefix(14)) }
}

/// The file name that a response and its URL suggest, made safe.
///
/// Servers are not trusted: every suggested name becomes one harmless path component. (An unsafe name from a client is
/// refused instead: `FilePathRule`.)
public enum SuggestedFilename {
    /// The name that a job without a name of its own gets, if no response names another.
    public static func from(url: String) -> String { from(contentDisposition: nil, url: url) }

    /// The name in `Content-Disposition`, otherwise the last component of the URL, otherwise `download`.
    static func from(contentDisposition: String?, url: String) -> String {
        let candidates = [contentDisposition.flatMap(ContentDisposition.filename), url.lastURLComponent]
        return candidates.lazy.compactMap { $0.flatMap { safe($0) } }.first ?? "download"
    }

    /// One path component that is valid on every system; nil if nothing is left of the name.
    ///
    /// Checks scalars, never characters: see `PathComponents`.
    ///
    /// - Parameter limit: in bytes.
    static func safe(_ name: String, bytes limit: Int = FilePathRule.longestSuggestion) -> String? {
        // If the name is a path, only its last component is the file name.
        let last = Array(name.unicodeScalars).split { $0 == "/" || $0 == "\\" }.last ?? []
        var kept = trimmed(String(String.UnicodeScalarView(last.filter { !FilePathRule.isForbidden($0) })))
        if FilePathRule.isReserved(kept) { kept = "_" + kept }
        // The cut may leave a space at the end.
        kept = trimmed(FilePathRule.shortened(kept, bytes: limit))
        if FilePathRule.isPart(kept) { kept = unlikePart(kept, bytes: limit) }
        return kept.isEmpty ? nil : kept
    }

    /// `x.part_` for `x.part`.
    private static func unlikePart(_ name: String, bytes limit: Int) -> String {
        let stem = String(Substring(name.utf8.dropLast(FilePathRule.partSuffix.utf8.count)))
        let suffix = FilePathRule.partSuffix + "_"
        return FilePathRule.shortened(stem, bytes: limit - suffix.utf8.count) + suffix
    }

    /// Removes the dots and spaces at both ends. They would hide the file, or some systems would drop them.
    private static func trimmed(_ name: String) -> String {
        func isLoose(_ scalar: Unicode.Scalar) -> Bool { scalar == "." || scalar.properties.isWhitespace }
        let rest = name.unicodeScalars.drop(while: isLoose)
        guard let last = rest.lastIndex(where: { !isLoose($0) }) else { return "" }
        return String(rest[...last])
    }
}
