import Foundation

/// One download of a session file of aria2 (`--save-session`, aria2c(1), "Input File").
struct Aria2Entry: Sendable, Equatable {
    /// The number of its line of URIs.
    var line: Int
    /// Mirrors of one file.
    var uris: [String]
    /// Each option in its order; `header` and some others can be repeated.
    var options: [Option]

    struct Option: Sendable, Equatable {
        var name: String
        var value: String
    }

    /// The last value of an option, as aria2 takes it.
    subscript(name: String) -> String? { options.last { $0.name == name }?.value }

    /// Reads a session file: URIs on one line, separated by tabs, and their options on the indented lines below.
    ///
    /// - Returns: the entries, and the numbers of lines that are none of these.
    static func read(_ text: String) -> (entries: [Aria2Entry], strayLines: [Int]) {
        var (entries, stray): ([Aria2Entry], [Int]) = ([], [])
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let isOption = line.first == " " || line.first == "\t"
            let content = line.drop { $0 == " " || $0 == "\t" }
            if content.isEmpty || (!isOption && content.hasPrefix("#")) { continue }
            if !isOption {
                let uris = line.split(separator: "\t").map { String($0).trimmed }.filter { !$0.isEmpty }
                entries.append(Aria2Entry(line: index + 1, uris: uris, options: []))
            } else if let option = Option(content), !entries.isEmpty {
                entries[entries.count - 1].options.append(option)
            } else {
                stray.append(index + 1)
            }
        }
        return (entries, stray)
    }
}

extension Aria2Entry.Option {
    /// nil for a line without `=`.
    init?(_ line: Substring) {
        guard let equals = line.firstIndex(of: "=") else { return nil }
        self.init(name: String(line[..<equals]).trimmed, value: String(line[line.index(after: equals)...]).trimmed)
    }
}

extension String {
    fileprivate var trimmed: String {
        trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
