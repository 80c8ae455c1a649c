/// Paths as the kernel reads them: byte by byte. To Swift, `/` with a combining mark behind it is one character, and not
/// `/`; to the kernel it is a separator, so a rule that looks at characters would be a way out of the folder.
public enum PathComponents {
    private static let separator = UInt8(ascii: "/")

    /// What stands between the separators, where it is not nothing.
    public static func split(_ path: String) -> [String] {
        path.utf8.split(separator: separator).map { String(Substring($0)) }
    }

    /// Everything before the last separator, and what stands behind it.
    public static func last(of path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: separator) else { return ("", path) }
        let name = path.utf8[path.utf8.index(after: slash)...]
        return (String(Substring(path.utf8[..<slash])), String(Substring(name)))
    }

    /// Whether it stays in the folder that it is looked for in.
    public static func isOne(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains { $0 == separator || $0 == 0 }
    }
}
