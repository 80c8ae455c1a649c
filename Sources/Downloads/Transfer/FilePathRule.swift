import Foundation

/// What a path below the downloads root may look like, when a client asks for it.
public enum FilePathRule {
    /// Directory of hidden parts; nobody may ask for a place in it.
    public static let partsDirectory = ".incomplete"
    public static let partSuffix = ".part"

    /// Bytes, on every file system in use (NAME_MAX).
    static let longestName = 255
    /// Room for ` (999)` in front of the extension, should the name be taken.
    static let longestSuggestion = 240

    /// A sentence saying what is wrong with one path component; nil when it may be used.
    public static func fault(inFilename name: String) -> String? {
        if name.isEmpty { return "is empty" }
        if name.contains("/") || name.contains("\\") { return "contains a path separator" }
        if name.utf8.count > longestName { return "is longer than 255 bytes" }
        if name.hasPrefix(".") { return "begins with a dot" }
        if name.hasSuffix(".") || name.hasSuffix(" ") || name.hasPrefix(" ") {
            return "begins or ends with a space, or ends with a dot"
        }
        if name.hasSuffix(partSuffix) { return "ends in .part, which is kept for unfinished downloads" }
        if name.unicodeScalars.contains(where: isForbidden) { return "contains a control or direction character" }
        if isReserved(name) { return "is a device name on some systems" }
        return nil
    }

    /// The same for a directory, `/` between components, relative to the downloads root; empty is the root itself.
    public static func fault(inDirectory path: String) -> String? {
        if path.isEmpty { return nil }
        if path.hasPrefix("/") { return "is absolute: it is taken from the downloads folder" }
        if path.utf8.count > 1024 { return "is longer than 1024 bytes" }
        return path.split(separator: "/", omittingEmptySubsequences: false).lazy
            .compactMap { fault(inFilename: String($0)).map { "has a component that \($0)" } }.first
    }

    /// `name (1).ext`, `name (2).ext`, ...
    public static func numbered(_ name: String, _ number: Int) -> String {
        let suffix = " (\(number))"
        let dot = name.dropFirst().lastIndex(of: ".")
        let (stem, ending) = dot.map { (name[..<$0], name[$0...]) } ?? (name[...], "")
        let kept = shortened(String(stem), bytes: longestName - suffix.utf8.count - ending.utf8.count)
        return kept + suffix + ending
    }

    /// Controls, and what makes a name read differently from what it is (bidirectional marks).
    static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0x061C: true
        default: false
        }
    }

    /// Names that Windows gives to devices, with any extension: files are copied there, too.
    static func isReserved(_ name: String) -> Bool {
        let stem = name.prefix { $0 != "." }.uppercased()
        return reserved.contains(stem)
    }

    private static let reserved: Set<String> = Set(
        ["CON", "PRN", "AUX", "NUL"] + (1...9).flatMap { ["COM\($0)", "LPT\($0)"] })

    /// Cut at a character boundary to that many bytes, the extension kept.
    static func shortened(_ name: String, bytes limit: Int) -> String {
        guard name.utf8.count > limit else { return name }
        let dot = name.dropFirst().lastIndex(of: ".")
        let ending = dot.map { name[$0...] }.flatMap { $0.utf8.count <= 20 ? $0 : nil } ?? ""
        var stem = name.dropLast(ending.count)
        while stem.utf8.count + ending.utf8.count > limit, !stem.isEmpty { stem = stem.dropLast() }
        return String(stem + ending)
    }
}
