import Formats
import Foundation
import HTTPSemantics

/// A file name with placeholders, which are replaced after the response: `{date}-{suggested_filename}`.
public struct FilenameTemplate: Sendable, Equatable {
    /// The placeholders that a template may contain.
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

    /// Returns one safe path component for any suggestion of the server. A template without placeholders is not
    /// changed.
    ///
    /// - Parameters:
    ///   - contentDisposition: the header of the response; nil if the response had none.
    ///   - url: the requested URL.
    ///   - finalURL: the URL of the response, after redirects.
    public func name(
        contentDisposition: String?, url: String, finalURL: String, job: JobID, at now: Date
    ) -> String {
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

    private var hasPlaceholder: Bool {
        pieces.contains { if case .placeholder = $0 { true } else { false } }
    }

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
