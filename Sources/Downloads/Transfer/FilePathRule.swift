import Formats

/// The rules for paths below the downloads root that a client specifies.
public enum FilePathRule {
    /// The folder of the hidden parts. No job may have a destination in it.
    public static let partsDirectory = ".incomplete"
    public static let partSuffix = ".part"

    /// In bytes. The limit (NAME_MAX) is the same on every file system in use.
    static let longestName = 255
    /// In bytes. Leaves room for ` (999)` before the extension if the name exists.
    static let longestSuggestion = 240
    /// In bytes, with its dot.
    private static let longestExtension = 20

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

    /// The fault in the path of a folder, relative to the downloads root, with `/` between components. An empty path is the root
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
        let (stem, ending) = dot.map { (String(name[..<$0]), String(name[$0...])) } ?? (name, "")
        let room = longestName - suffix.utf8.count
        // A long ending is no extension, and may leave no room for the number.
        guard ending.utf8.count <= longestExtension || name.utf8.count <= room else {
            return shortened(name, bytes: room) + suffix
        }
        return shortened(stem, bytes: room - ending.utf8.count) + suffix + ending
    }

    /// The same for the last component of a path.
    public static func numbered(path: String, _ number: Int) -> String {
        let (folder, name) = PathComponents.last(of: path)
        return (folder.isEmpty ? "" : folder + "/") + numbered(name, number)
    }

    /// Control characters, and invisible characters that make a name look different from what it is: marks of direction,
    /// spaces without a width, and marks of annotations. The joiners U+200C and U+200D are part of words and emoji.
    static func isForbidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x180E, 0x200B, 0x200E, 0x200F, 0x2028...0x202E, 0x2060...0x206F, 0xFEFF,
            0xFFF9...0xFFFB:
            true
        default: false
        }
    }

    /// The names of devices in Windows, with any extension, stream, or space after them. Files are also copied to Windows.
    static func isReserved(_ name: String) -> Bool {
        let stem = name.unicodeScalars.prefix { $0 != "." && $0 != ":" }
        let end = stem.lastIndex { !$0.properties.isWhitespace }
        return reserved.contains(end.map { String(stem[...$0]) }?.uppercased() ?? "")
    }

    private static let reserved: Set<String> = Set(
        ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"]
            + "0123456789\u{B9}\u{B2}\u{B3}".flatMap { ["COM\($0)", "LPT\($0)"] })

    static func isPart(_ name: String) -> Bool {
        name.utf8.suffix(partSuffix.utf8.count).elementsEqual(partSuffix.utf8)
    }

    /// Shortens a name to the limit in bytes. Cuts between scalars, and keeps an extension.
    static func shortened(_ name: String, bytes limit: Int) -> String {
        guard name.utf8.count > limit else { return name }
        let scalars = name.unicodeScalars
        let dot = scalars.dropFirst().lastIndex(of: ".")
        let ending = dot.map { String(scalars[$0...]) }.flatMap { $0.utf8.count <= longestExtension ? $0 : nil } ?? ""
        var stem = scalars.dropLast(ending.unicodeScalars.count)
        var bytes = name.utf8.count
        while bytes > limit, let last = stem.popLast() { bytes -= UTF8.width(last) }
        return String(stem) + ending
    }
}
