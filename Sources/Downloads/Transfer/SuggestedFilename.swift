import Foundation
import HTTPSemantics

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
