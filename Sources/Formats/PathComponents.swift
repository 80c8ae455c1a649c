/// Splits paths by bytes, as the kernel does. In Swift, `/` with a combining mark after it is one character, which is
/// not equal to `/`. The kernel reads a separator there, so a rule based on characters would allow a path out of the
/// folder.
public enum PathComponents {
    private static let separator = UInt8(ascii: "/")

    /// The nonempty components between separators.
    public static func split(_ path: String) -> [String] {
        path.utf8.split(separator: separator).map { String(Substring($0)) }
    }

    /// Everything before the last separator, and the name after it.
    public static func last(of path: String) -> (folder: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: separator) else { return ("", path) }
        let name = path.utf8[path.utf8.index(after: slash)...]
        return (String(Substring(path.utf8[..<slash])), String(Substring(name)))
    }

    /// Whether the name is one component, which cannot lead out of its folder.
    public static func isOne(_ name: String) -> Bool {
        !name.isEmpty && name != "." && name != ".." && !name.utf8.contains { $0 == separator || $0 == 0 }
    }
}
