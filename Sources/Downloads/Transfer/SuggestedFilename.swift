import Foundation
import HTTPSemantics

/// The name that a response and its URL suggest for the file, made safe.
///
/// Servers are not trusted: any name that they send becomes one harmless path component. (A name that a client asks for is
/// refused instead when it is unsafe: `FilePathRule`.)
enum SuggestedFilename {
    /// `Content-Disposition`, else the last component of the URL asked for, else `download`.
    static func from(contentDisposition: String?, url: String) -> String {
        let candidates = [contentDisposition.flatMap(ContentDisposition.filename), lastComponent(of: url)]
        return candidates.lazy.compactMap { $0.flatMap { safe($0) } }.first ?? "download"
    }

    static func lastComponent(of url: String) -> String? {
        guard let path = URLComponents(string: url)?.percentEncodedPath else { return nil }
        let component = path.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? ""
        return component.removingPercentEncoding ?? component
    }

    /// One path component that no system takes amiss; nil when nothing is left of it.
    ///
    /// Scalars are looked at, never characters: see `PathComponents`.
    ///
    /// - Parameter limit: bytes.
    static func safe(_ name: String, bytes limit: Int = FilePathRule.longestSuggestion) -> String? {
        // A path in a name: only its last component was ever meant.
        let last = Array(name.unicodeScalars).split { $0 == "/" || $0 == "\\" }.last ?? []
        var kept = trimmed(String(String.UnicodeScalarView(last.filter { !FilePathRule.isForbidden($0) })))
        if FilePathRule.isReserved(kept) { kept = "_" + kept }
        // The cut may come right behind a space.
        kept = trimmed(FilePathRule.shortened(kept, bytes: limit))
        if FilePathRule.isPart(kept) { kept += "_" }
        return kept.isEmpty ? nil : kept
    }

    /// Without the dots and spaces at its ends, which hide a file, or which some systems drop.
    private static func trimmed(_ name: String) -> String {
        func isLoose(_ scalar: Unicode.Scalar) -> Bool { scalar == "." || scalar.properties.isWhitespace }
        let rest = name.unicodeScalars.drop(while: isLoose)
        guard let last = rest.lastIndex(where: { !isLoose($0) }) else { return "" }
        return String(rest[...last])
    }
}
