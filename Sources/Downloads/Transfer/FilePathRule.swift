/// The rules for paths below the downloads root that a client specifies.
public enum FilePathRule {
    /// The folder of the hidden parts. No job may have a destination in it.
    public static let partsDirectory = ".incomplete"
    public static let partSuffix = ".part"

    /// In bytes. The limit (NAME_MAX) is the same on every file system in use.
    static let longestName = 255
    /// In bytes. Leaves room for ` (999)` before the extension if the name exists.
    static let longestSuggestion = 240

    /// The fault in one path component, as the end of a sentence; nil if the component is valid.
    public static func fault(inFilename name: String) -> String? {
        if name.isEmpty { return "is empty" }
        // Checks bytes and scalars, never characters: see `PathComponents`.
        if name.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "\\") }) {
            return "contains a path separator"
        }
        if name.utf8.count > longestName { return "is longer than 255 bytes" }
        if name.unicodeScalars.first == "." { return "begins with a dot" }
        if let first = name.unicodeScalars.first, let last = name.unicodeScalars.last,
            first.properties.isWhitespace || last.properties.isWhitespace || last == "."
        {
            return "begins or ends with a space, or ends with a dot"
        }
        if isPart(name) { return "ends in .part, which is kept for unfinished downloads" }
        if name.unicodeScalars.contains(where: isForbidden) { return "contains a control or direction character" }
        if isReserved(name) { return "is a device name on some systems" }
        return nil
    }

    /// The same for a folder, relative to the downloads root, with `/` between components. An empty path is the root
    /// itself.
    public static func fault(inDirectory path: String) -> String? {
        if path.isEmpty { return nil }
        if path.utf8.first == UInt8(ascii: "/") { return "is absolute, and must be relative to the downloads folder" }
        if path.utf8.count > 1024 { return "is longer than 1024 bytes" }
        return path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).lazy
            .compactMap { fault(inFilename: String(Substring($0))).map { "has a component that \($0)" } }.first
    }

    /// `name (1).ext`, `name (2).ext`, ...
    public static func numbered(_ name: String, _ number: Int) -> String {
        let suffix = " (\(number))"
        let dot = name.dropFirst().lastIndex(of: ".")
        let (stem, ending) = dot.map { (name[..<$0], name[$0...]) } ?? (name[...], "")
        let kept = shortened(String(stem), bytes: longestName - suffix.utf8.count - ending.utf8.count)
        return kept + suffix + ending
    }

    /// Control characters, and bidirectional marks, which make a name look different from what it is.
    static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069, 0xFEFF, 0x061C: true
        default: false
        }
    }

    /// The names of devices in Windows, with any extension. Files are also copied to Windows.
    static func isReserved(_ name: String) -> Bool {
        let stem = String(name.unicodeScalars.prefix { $0 != "." }).uppercased()
        return reserved.contains(stem)
    }

    private static let reserved: Set<String> = Set(
        ["CON", "PRN", "AUX", "NUL"] + (1...9).flatMap { ["COM\($0)", "LPT\($0)"] })

    static func isPart(_ name: String) -> Bool {
        name.utf8.suffix(partSuffix.utf8.count).elementsEqual(partSuffix.utf8)
    }

    /// Shortens a name to the limit in bytes. Cuts between scalars, and keeps an extension of up to 20 bytes.
    static func shortened(_ name: String, bytes limit: Int) -> String {
        guard name.utf8.count > limit else { return name }
        let scalars = name.unicodeScalars
        let dot = scalars.dropFirst().lastIndex(of: ".")
        let ending = dot.map { String(scalars[$0...]) }.flatMap { $0.utf8.count <= 20 ? $0 : nil } ?? ""
        var stem = scalars.dropLast(ending.unicodeScalars.count)
        var bytes = name.utf8.count
        while bytes > limit, let last = stem.popLast() { bytes -= UTF8.width(last) }
        return String(stem) + ending
    }
}
