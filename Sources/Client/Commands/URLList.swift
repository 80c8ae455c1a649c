import Foundation

/// The URLs of a command: those given, and those that a file lists.
enum URLList {
    static func gathered(_ given: [String], input: String?) throws(ClientError) -> [String] {
        var urls: [String] = []
        for url in given {
            if url == "-" { urls += try lines(of: "-") } else { urls.append(url) }
        }
        if let input { urls += try lines(of: input) }
        return urls
    }

    private static func lines(of file: String) throws(ClientError) -> [String] {
        read(String(decoding: try InputFile.bytes(of: file), as: UTF8.self))
    }

    /// A # begins a comment only where a line begins: within a URL it is the fragment.
    static func read(_ text: String) -> [String] {
        text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            .filter { !$0.isEmpty && !$0.hasPrefix("#") }
    }
}
