import Foundation

@testable import CurlClient
@testable import Downloads
@testable import Formats
@testable import HTTPSemantics

/// Fields of responses.
extension FuzzTarget {
    static let contentRange = FuzzTarget.text("content-range") { text in
        guard let range = ContentRange(text) else { return }
        switch range {
        case .bytes(let first, let last, let complete):
            require(first >= 0 && first <= last && last < complete ?? .max, "the range is invalid")
            let again = "bytes \(first)-\(last)/\(complete.map { String($0) } ?? "*")"
            require(ContentRange(again) == range, "the range changed")
            require(last - first + 1 > 0, "the length is negative")
            require(!range.isWhole || first == 0, "not the whole")
        case .unsatisfied(let complete): require(complete >= 0, "the size is negative")
        }
    }

    static let retryAfter = FuzzTarget.text("retry-after") { text in
        let facts = ResponseFacts(status: 503, headers: [("Retry-After", text)])
        guard let delay = facts.retryDelay(at: Date(timeIntervalSince1970: 1_566_228_194)) else { return }
        require(delay >= 0 && !delay.isNaN, "the delay is \(delay)")
    }

    static let httpDate = FuzzTarget.text("http-date") { text in
        guard let date = Date(httpDate: text) else { return }
        require(date.timeIntervalSince1970.isFinite, "the date is not finite")
        // Years of four digits are written as they were read.
        guard (1..<253_402_300_800).contains(date.timeIntervalSince1970) else { return }
        let format = Date.VerbatimFormatStyle(
            format:
                "\(day: .twoDigits) \(month: .abbreviated) \(year: .padded(4)) \(hour: .twoDigits(clock: .twentyFourHour, hourCycle: .zeroBased)):\(minute: .twoDigits):\(second: .twoDigits) GMT",
            locale: Locale(identifier: "en_US_POSIX"), timeZone: .gmt, calendar: Calendar(identifier: .gregorian))
        let again = Date(httpDate: "Sun, " + date.formatted(format))
        require(again == date, "the date changed: \(date)")
    }

    static let time = FuzzTarget.text("time") { text in
        guard let date = Date(rfc3339: text) else { return }
        let form = /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})/
        require(text.wholeMatch(of: form) != nil, "the text has another form")
        require(date.timeIntervalSince1970.isFinite, "the time is not finite")
        // Years with four digits.
        guard (-62_167_219_200..<253_402_300_800).contains(date.timeIntervalSince1970) else { return }
        let rounded = Date(milliseconds: date.milliseconds)
        require(Date(rfc3339: rounded.rfc3339) == rounded, "the time changed")
    }

    static let base64 = FuzzTarget.text("base64") { text in
        guard let bytes = [UInt8](base64: text) else { return }
        require(bytes.count <= text.utf8.count * 3 / 4, "too many bytes")
        require([UInt8](base64: Data(bytes).base64EncodedString()) == bytes, "the bytes changed")
    }

    /// A link is in its field, and what is resolved can be fetched.
    static let link = FuzzTarget.text("link") { text in
        for link in WebLink.links([("Link", text)]) {
            require(link.target.utf8.count <= text.utf8.count, "the target is longer than the field")
            guard let url = URLRule.resolved(link.target, against: "https://host/folder/file") else { continue }
            require(URLRule.fault(in: url) == nil, "it cannot be fetched: \(url)")
        }
    }

    /// A claim has the size of its algorithm.
    static let digests = FuzzTarget("digests") { bytes in
        let lines = bytes.lines(3)
        let headers = zip(["Repr-Digest", "Content-Digest", "Content-MD5"], lines).map { ($0, $1) }
        let facts = ResponseFacts(status: 200, headers: headers)
        for claim in facts.label.digests {
            require(claim.checksum.value.utf8.count == 2 * claim.checksum.algorithm.size, "the digest has another size")
        }
    }

    static let challenges = FuzzTarget.text("challenges") { text in
        for challenge in Challenge.all(in: text) {
            require(!challenge.scheme.isEmpty, "no scheme")
            require(challenge.scheme == challenge.scheme.lowercased(), "a scheme in upper case")
            require(!challenge.scheme.contains { " \t,".contains($0) }, "a separator in the scheme")
            require((challenge.realm?.utf8.count ?? 0) <= text.utf8.count, "the realm is longer")
        }
    }

    /// The lines of a response head, in any division, as libcurl reports them.
    static let responseHead = FuzzTarget("response-head") { bytes in
        var parser = HeadParser(byteLimit: 1_000)
        var count = 0
        for line in bytes.split(separator: 0x0A, omittingEmptySubsequences: false) {
            let parsed = Result { () throws(TransferError) in try parser.feed(Array(line) + [0x0A]) }
            guard case .success(let complete) = parsed else { return }
            guard let head = complete else { continue }
            count += 1
            require(count == 1, "two heads")
            require((200..<1_000).contains(head.status), "the status is \(head.status)")
            require(head.contentLength ?? 0 >= 0, "the length is negative")
            let facts = ResponseFacts(status: head.status, headers: head.headers)
            require(facts.contentLength ?? 0 >= 0, "the length is negative")
        }
    }

    /// For every response of a server, fetchd reaches a verdict, and writes the bytes only at the requested offset.
    static let response = FuzzTarget("response") { bytes in
        let lines = bytes.lines(2)
        let status = Int(lines[0].prefix(3)) ?? 200
        let offset = Int64(lines[0].dropFirst(3).prefix(12)) ?? 0
        let headers = lines[1].split(separator: "\n").map { line in
            let halves = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            return (name: String(halves[0]), value: halves.count > 1 ? String(halves[1]) : "")
        }
        let facts = ResponseFacts(status: status, headers: headers)
        var asked = RequestedRange(offset: max(0, offset), validators: Validators(etag: "\"a\""), size: 1_000)
        for probes in [false, true] {
            asked.probesRanges = probes
            switch ResponseDecision.judge(facts, asked: asked, presentBytes: asked.presentBytes) {
            case .accept(let position, let skipping, let size, _):
                require(position == asked.offset || position == 0, "bytes for another position")
                require(skipping >= 0 && size ?? 0 >= 0, "a negative number")
            case .alreadyComplete, .askFromStart, .weigh, .redirect, .fail: break
            }
        }
    }
}
