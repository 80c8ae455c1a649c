/// Environment variables that look like misspelled settings. The service would ignore them without a word.
///
/// A variable that resembles no setting is not one of them: other programs name variables in the same way. Kubernetes makes
/// some for each service that is called `fetchd`, and programs that use fetchd have their own.
public struct UnknownVariables: Sendable, Equatable {
    public struct Variable: Sendable, Equatable {
        public var name: String
        /// The variable of a setting that resembles it most.
        public var nearest: String
    }

    /// Sorted by name.
    public let variables: [Variable]

    /// - Parameter settings: the variables of all settings, such as `FETCHD_LISTEN`.
    public init(in environment: [String: String], besides settings: [String]) {
        let known = Set(settings).union(Self.foreign)
        variables = environment.keys.sorted().compactMap { name in
            guard name.hasPrefix(Self.prefix), !known.contains(name),
                !Self.isMadeByKubernetes(name, environment[name] ?? ""),
                let nearest = Self.nearest(to: name, among: settings)
            else { return nil }
            return Variable(name: name, nearest: nearest)
        }
    }

    /// A warning; nil if there are no such variables.
    public var warning: String? {
        guard let first = variables.first else { return nil }
        guard variables.count > 1 else {
            return
                "The environment variable \(first.name) is no setting of fetchd and has no effect. Did you mean \(first.nearest)?"
        }
        let names = variables.map { "\($0.name) (did you mean \($0.nearest)?)" }.joined(separator: ", ")
        return "These environment variables are no settings of fetchd and have no effect: \(names)."
    }

    private static let prefix = "FETCHD_"

    /// Variables of the client commands, and of the programs that fetchd starts for events.
    private static let foreign: Set = ["FETCHD_URL", "FETCHD_CA_FILE", "FETCHD_EVENT", "FETCHD_PATH"]

    /// The variables of a service `fetchd` or `fetchd-web`: `FETCHD_SERVICE_HOST`, `FETCHD_PORT=tcp://10.0.0.1:8080`,
    /// `FETCHD_PORT_8080_TCP_ADDR`.
    private static func isMadeByKubernetes(_ name: String, _ value: String) -> Bool {
        let words = name.split(separator: "_").map(String.init)
        if name.hasPrefix("FETCHD_PORT") || name.hasPrefix("FETCHD_SERVICE_") { return true }
        if words.last == "PORT", value.contains("://") { return true }
        return zip(words, words.dropFirst()).contains { first, second in
            first == "SERVICE" && ["HOST", "PORT"].contains(second) || first == "PORT" && Int(second) != nil
        }
    }

    private static func nearest(to name: String, among settings: [String]) -> String? {
        let text = String(name.dropFirst(prefix.count))
        let words = Set(text.split(separator: "_"))
        let close = settings.map { (name: $0, distance: distance(text, String($0.dropFirst(prefix.count)))) }
            .filter { $0.distance <= max(1, text.utf8.count / 4) }
            .min { $0.distance < $1.distance }
        if let close { return close.name }
        // FETCHD_MAX_JOBS for FETCHD_MAX_CONCURRENT_JOBS. A single word says too little.
        guard words.count > 1 else { return nil }
        return settings.filter { words.isSubset(of: $0.dropFirst(prefix.count).split(separator: "_")) }
            .min { $0.utf8.count < $1.utf8.count }
    }

    /// The number of bytes to insert, remove, replace or swap with their neighbours.
    private static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first.utf8), Array(second.utf8))
        var rows = [Array(0...second.count)]
        for (i, byte) in first.enumerated() {
            var row = [i + 1]
            for (j, other) in second.enumerated() {
                var least = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (byte == other ? 0 : 1))
                if i > 0, j > 0, byte == second[j - 1], first[i - 1] == other {
                    least = min(least, rows[i - 1][j - 1] + 1)
                }
                row.append(least)
            }
            rows.append(row)
        }
        return rows[first.count][second.count]
    }
}
