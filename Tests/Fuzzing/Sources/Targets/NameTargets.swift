import Foundation

@testable import CurlClient
@testable import Downloads
@testable import Formats
@testable import HTTPSemantics

/// File names, and URLs.
extension FuzzTarget {
    private static func requireSafe(_ name: String) {
        require(PathComponents.isOne(name), "the name is not one component")
        require(FilePathRule.fault(inFilename: name) == nil, "the name \(FilePathRule.fault(inFilename: name) ?? "")")
        require(name.utf8.count <= FilePathRule.longestName, "the name is too long")
    }

    /// Every name that a server suggests becomes a safe one.
    static let contentDisposition = FuzzTarget("content-disposition") { bytes in
        let lines = bytes.lines(2)
        _ = ContentDisposition.filename(lines[0])
        requireSafe(SuggestedFilename.from(contentDisposition: lines[0], url: "http://a/" + lines[1]))
        if let name = SuggestedFilename.safe(lines[1], bytes: 40) {
            require(name.utf8.count <= 41, "the name is too long")
        }
        requireSafe(FilePathRule.numbered(SuggestedFilename.from(contentDisposition: lines[0], url: ""), 12))
    }

    /// An accepted template makes a safe name of everything.
    static let filenameTemplate = FuzzTarget("filename-template") { bytes in
        let lines = bytes.lines(3)
        guard let template = FilenameTemplate(lines[0]) else {
            require(FilenameTemplate.fault(in: lines[0]) != nil, "refused without a fault")
            return
        }
        require(FilenameTemplate.fault(in: lines[0]) == nil, "accepted with a fault")
        let url = "http://host/" + lines[1]
        requireSafe(
            template.name(
                contentDisposition: lines[2], url: url, finalURL: url, job: JobID("job_1"), at: Date(milliseconds: 0)))
    }

    /// fetchd and libcurl see the same server in an accepted URL, and the fast path sees the same as the slow one.
    static let url = FuzzTarget.text("url") { text in
        let shown = URLRule.redacted(text)
        require(!shown.utf8.contains(UInt8(ascii: "?")) || URLRule.isRedacted(shown), "the query is shown")
        if let common = CommonURL(text) {
            let parts = URLComponents(string: text)
            require(parts?.host == common.host && parts?.port == common.port, "the fast path sees another server")
        }
        guard URLRule.fault(in: text) == nil else { return }
        let url = URLRule.normalized(text)
        require(URLRule.fault(in: url) == nil, "normalizing adds a fault")
        require(URLRule.normalized(url) == url, "normalizing twice differs")
        requireSameServer(url)
    }

    private static func requireSameServer(_ url: String) {
        guard let parsed = try? ParsedURL(url), let host = parsed.host, let port = parsed.port else { return }
        // A zone is not part of the address.
        let seen = host.lowercased().filter { $0 != "[" && $0 != "]" }
        let known = URLRule.host(of: url)
        // libcurl writes an IPv4 address such as 0x7f.1 in its usual form. The policy for addresses sees that form.
        if IPAddress(seen) != nil, seen != known { return }
        require(known.prefix { $0 != "%" } == seen.prefix { $0 != "%" }, "libcurl sees \(seen), fetchd \(known)")
        require(URLRule.hostAndPort(of: url).hasSuffix(":\(port)"), "libcurl sees port \(port)")
    }

    /// A reference in Location leads to a URL that can be judged.
    static let location = FuzzTarget.text("location") { text in
        guard let base = try? ParsedURL("http://host:81/folder/file?query"), let url = base.resolve(text) else {
            return
        }
        // libcurl keeps a space in the user of a URL, and then refuses the URL.
        if url.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
            require((try? validated(url)) == nil, "an accepted URL with a control character")
            return
        }
        guard URLRule.fault(in: url) == nil else { return }
        requireSameServer(URLRule.normalized(url))
        require(URLRule.origin(of: url).hasPrefix("http"), "the origin is \(URLRule.origin(of: url))")
    }

    /// The host of a URL that can be requested.
    private static func validated(_ url: String) throws -> String? {
        try TransferRequest(url: url).validate()
        return try ParsedURL(url).host
    }

    static let rehearsal = FuzzTarget.text("rehearsal") { text in
        let url = "rehearse:" + text
        require((Rehearsal.fault(in: url) == nil) == ((try? Rehearsal(parsing: url)) != nil), "the rule differs")
    }

    static let webhookSecret = FuzzTarget.text("webhook-secret") { text in
        guard let secret = WebhookSecret(text) else { return }
        require((24...64).contains(secret.key.count), "the key has \(secret.key.count) bytes")
        require(WebhookSecret(secret.text)?.key == secret.key, "the key changed")
    }
}
