import Foundation

/// A URL of a command line, and where it was read, if in a file.
struct ListedURL: Sendable, Equatable {
    var text: String
    /// Such as `urls.txt, line 5`.
    var place: String?
}

/// The URLs of a command: those given, and those that a file lists.
enum URLList {
    static func gathered(_ given: [String], input: String?) throws(ClientError) -> [ListedURL] {
        var urls: [ListedURL] = []
        for url in given {
            if url == "-" { urls += try lines(of: "-") } else { urls.append(ListedURL(text: url)) }
        }
        if let input { urls += try lines(of: input) }
        return urls
    }

    private static func lines(of file: String) throws(ClientError) -> [ListedURL] {
        read(
            String(decoding: try InputFile.bytes(of: file), as: UTF8.self),
            of: file == "-" ? "standard input" : Printable(file).description)
    }

    /// A # begins a comment only where a line begins: within a URL it is the fragment. Some editors begin files with a
    /// byte order mark.
    static func read(_ text: String, of file: String) -> [ListedURL] {
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated().compactMap {
            let url = $1.trimmingCharacters(in: .whitespaces)
            return url.isEmpty || url.hasPrefix("#") ? nil : ListedURL(text: url, place: "\(file), line \($0 + 1)")
        }
    }
}

extension ClientError {
    /// The same, where it is about one of these URLs: with what was typed, or the line that it is in, in place of the
    /// number that the service knows it by.
    func naming(_ urls: [ListedURL]) -> ClientError {
        guard let problem, let pointer = problem.pointer else { return self }
        let parts = pointer.split(separator: "/").map(String.init)
        let isOfBatch = parts.first == "jobs" && parts.count > 1
        let index = isOfBatch ? Int(parts[1]) : 0
        guard let index, urls.indices.contains(index) else { return self }
        var (error, local) = (self, problem)
        local.detail = problem.detail?.replacing("jobs.\(index).", with: "")
        local.pointer = isOfBatch ? "/" + parts.dropFirst(2).joined(separator: "/") : pointer
        error.sentence = local.sentence
        // What is not about a URL is the same for all of them.
        guard local.pointer == "/url" || local.pointer?.hasPrefix("/urls") == true else { return error }
        let url = urls[index]
        error.sentence = [url.place, url.text, local.sentence].compactMap(\.self).joined(separator: ": ")
        return error
    }
}
