import Downloads

/// The downloads folder, which `dir` in aria2's options must be, or lie in.
struct DownloadsRoot: Sendable {
    /// Absolute.
    let path: String

    /// - Parameter path: absolute; slashes at its end are removed.
    init(path: String) {
        self.path = path == "/" ? path : String(path.reversed().drop { $0 == "/" }.reversed())
    }

    /// The folder relative to the downloads folder; empty for the downloads folder itself.
    ///
    /// - Parameter dir: absolute, or relative to the downloads folder.
    /// - Throws: an error if it is elsewhere.
    func relative(_ dir: String) throws(RPCError) -> String {
        let components = dir.split(separator: "/").filter { $0 != "." }
        let inside: ArraySlice<Substring>
        if dir.utf8.first == UInt8(ascii: "/") {
            let own = path.split(separator: "/")
            guard components.starts(with: own) else { throw outside(dir) }
            inside = components[own.count...]
        } else {
            inside = components[...]
        }
        let relative = inside.joined(separator: "/")
        if let fault = FilePathRule.fault(inDirectory: relative) { throw RPCError("The dir '\(dir)' \(fault).") }
        return relative
    }

    private func outside(_ dir: String) -> RPCError {
        RPCError("The dir '\(dir)' is not the downloads folder \(path), and does not lie in it.")
    }

    /// - Parameter relative: with `/` between components; nil or empty for the downloads folder itself.
    func absolute(_ relative: String?) -> String {
        guard let relative, !relative.isEmpty else { return path }
        return path == "/" ? "/" + relative : "\(path)/\(relative)"
    }
}
