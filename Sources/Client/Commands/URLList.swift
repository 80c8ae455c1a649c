import Foundation

/// The URLs of a command: its arguments, and the lines of a file.
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

    /// A # starts a comment only at the beginning of a line: inside a URL it starts the fragment. A byte order mark at the
    /// beginning is skipped; some editors write one.
    static func read(_ text: String, of file: String) -> [ListedURL] {
        let text = text.unicodeScalars.first == "\u{FEFF}" ? String(text.unicodeScalars.dropFirst()) : text
        return text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated().compactMap {
            let url = $1.trimmingCharacters(in: .whitespaces)
            return url.isEmpty || url.hasPrefix("#") ? nil : ListedURL(text: url, place: "\(file), line \($0 + 1)")
        }
    }
}

extension ClientError {
    /// If the problem concerns one of these URLs, names the URL and its line in the file, instead of the index of the job in
    /// the request.
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
        // A problem with another member concerns all URLs, because they have the same options.
        guard local.pointer == "/url" || local.pointer?.hasPrefix("/urls") == true else { return error }
        let url = urls[index]
        error.sentence = [url.place, url.text, local.sentence].compactMap(\.self).joined(separator: ": ")
        return error
    }
}
