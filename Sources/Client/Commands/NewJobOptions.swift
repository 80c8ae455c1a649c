import ArgumentParser
import Formats
import Foundation

struct NewJobOptions: ParsableArguments {
    @Option("The session of the job. (default: default)", "name", name: .shortAndLong, completion: .sessionNames)
    var session: String?

    @Option(
        "The path of the file, relative to the folder of the location. A path that ends with / is a folder.",
        "path",
        name: .shortAndLong)
    var out: String?

    @Option("The location of the file, as 'fetchd locations' lists it. (default: the session's)", "name")
    var location: String?

    @Option("The action if the file already exists. (default: the session's)") var onConflict: ConflictArgument?

    @Option("The bytes on the disk before a bucket has the file: a part of it (auto), or the whole. (default: auto)")
    var staging: StagingArgument?

    @Option(
        "The expected checksum: sha-256:HEX, sha-512:HEX, sha-1:HEX or md5:HEX. The job fails if the file has another one.",
        "sum")
    var checksum: ChecksumArgument?

    @OptionGroup(title: "A checksum at an address") var checksumFile: ChecksumFileOptions

    @Option("A request header; repeatable.", "name: value", name: [.customShort("H"), .long])
    var header: [HeaderArgument] = []

    @Option("Another URL of the same file; repeatable.", "url") var mirror: [String] = []

    @Flag(name: .customLong("discover-mirrors"), help: "Use the mirrors that the server names, too (RFC 6249).")
    var discoversMirrors = false

    @Option("Jobs with a higher priority start first. (default: the session's)") var priority: PriorityArgument?
    @Option("Connections for the file, 1 to 16. (default: the session's)", "n") var connections: Int?
    @Option("The maximum rate in bytes per second, such as 500K or 2Mi.", "bytes") var rateLimit: ByteCount?

    @Flag(
        help:
            "Decode a body that the server has compressed (gzip or deflate). Without it, the bytes are stored as they come."
    )
    var decode = false

    @Option("Whether equal bytes are enough to resume from a server without strong ETags. (default: the session's)")
    var resumePolicy: ResumePolicyArgument?

    @Option(
        "Start at this time or later: 22:00, '2030-01-31 22:00' (local time), or 2030-01-31T22:00:00Z.", "time")
    var notBefore: MomentArgument?

    @Option("Fail if the download has not ended at this time.", "time") var deadline: MomentArgument?

    @Option("Wait instead of failing if the download lacks this; repeatable. (default: the session's)")
    var waitFor: [WaitForArgument] = []

    @Option("A tag, to find the job by; repeatable.", "tag", name: .shortAndLong) var tag: [String] = []

    /// Whether an option is given that is valid for only one URL.
    var concernsOneFile: Bool {
        !mirror.isEmpty || checksum != nil || checksumFile.name != nil
            || (out.map { !$0.isEmpty && !$0.hasSuffix("/") } ?? false)
    }

    /// The job to create. Members without an option are left out, so that the service uses its defaults.
    func document(_ url: String) -> JSON {
        var job = JSONObject()
        if mirror.isEmpty { job.set("url", url) } else { job.set("urls", [url] + mirror) }
        if discoversMirrors { job["mirrors"] = "discover" }
        job.set("session", session)
        job.set("headers", header.json)
        job.set(
            "destination",
            NewDestination(
                location: location, path: out, onConflict: onConflict, staging: staging)?.json)
        job.set("priority", priority?.rawValue)
        job.set("connections", connections)
        job.set("rate_limit_bytes_per_second", rateLimit?.count)
        job.set("checksum", checksumFile.json ?? checksum?.json)
        if decode { job["decode"] = true }
        job.set("resume_policy", resumePolicy?.rawValue)
        job.set("not_before", notBefore?.time)
        job.set("deadline", deadline?.time)
        job.set("wait_for", waitFor.map(\.rawValue))
        job.set("tags", tag)
        return .object(job)
    }
}

/// A list of digests, such as SHA256SUMS, that the service reads.
struct ChecksumFileOptions: ParsableArguments {
    @Option("A list of checksums, such as SHA256SUMS. The job fails if it does not have the file's.", "url")
    var checksumURL: String?

    @Option(
        "The name of the file in the list. (default: the last part of the download's URL)", "name",
        name: .customLong("checksum-name"))
    var name: String?

    @Option(
        "A public key that must have signed the list: a .pub file, or its line that begins with RW; repeatable.", "key",
        name: .customLong("key"))
    var keys: [PublicKeyArgument] = []

    @Option(
        "The program that made the signature. (default: as the .pub file says, otherwise minisign)",
        name: .customLong("signature"))
    var kind: SignatureArgument?

    @Option("The signature of the list. (default: the URL of the list with .minisig, or .sig for signify)", "url")
    var signatureURL: String?

    func validate(besides checksum: ChecksumArgument?) throws {
        if checksumURL != nil, checksum != nil {
            throw ValidationError("--checksum and --checksum-url exclude each other.")
        }
        if checksumURL == nil, name != nil || !keys.isEmpty || kind != nil || signatureURL != nil {
            throw ValidationError("--checksum-name, --key, --signature and --signature-url require --checksum-url.")
        }
        if keys.isEmpty, kind != nil || signatureURL != nil {
            throw ValidationError("--signature and --signature-url require --key.")
        }
    }

    var json: JSON? {
        guard let checksumURL else { return nil }
        var checksum: JSONObject = ["url": .string(checksumURL)]
        checksum.set("file", name)
        if !keys.isEmpty {
            let kind = kind ?? keys.compactMap(\.kind).first ?? .minisign
            checksum["signature"] = [
                "type": .string(kind.rawValue), "url": .string(signatureURL ?? checksumURL + kind.suffix),
                "keys": .strings(keys.map(\.line)),
            ]
        }
        return .object(checksum)
    }
}

/// A URL of a command line or of a file, with its place in the file.
struct ListedURL: Sendable, Equatable {
    var text: String
    /// The place reads `urls.txt, line 5`.
    var place: String?

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
        var error = self
        var local = problem
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
