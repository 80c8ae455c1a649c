import Formats
import Foundation
import HTTPSemantics
import Testing

private let now = Date(milliseconds: 1_566_228_194_250)

/// The facts that are read from the head of a response.
@Suite struct ResponseFactsTests {
    @Test func offersOnlyStrongValidatorForIfRange() {
        func strong(_ headers: [(String, String)]) -> String? {
            ResponseFacts(status: 200, headers: headers.map { (name: $0.0, value: $0.1) }).validators.strong
        }
        let modified = ("Last-Modified", "Sun, 06 Nov 1994 08:49:36 GMT")
        let later = ("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(strong([("ETag", "\"a\"")]) == "\"a\"")
        #expect(strong([("ETag", "W/\"a\"")]) == nil)
        #expect(strong([("ETag", "W/\"a\""), modified, later]) == nil)
        // An invalid ETag proves nothing.
        for tag in ["", "\"\"", "abc", "\"a", "a\"", "*", "w/\"a\"", "\"a\", \"b\"", "\"a b\"", "\"a\"b\""] {
            #expect(strong([("ETag", tag), modified, later]) == nil, "\(tag)")
        }
        #expect(strong([("ETag", "\"é-ü\"")]) == "\"é-ü\"")
        #expect(strong([modified, later]) == modified.1)
        #expect(strong([modified, ("Date", modified.1)]) == nil)
        #expect(strong([modified]) == nil)
        #expect(strong([("ETag", "\"a\""), ("Content-Encoding", "gzip")]) == nil)
    }

    /// A server that makes its tag of the second and the size gives it to two versions of one second. After two seconds it does not.
    @Test(arguments: [("36", false), ("37", false), ("38", true), ("59", true), ("35", false)])
    func trustsNoTagOfAFileThatHasJustChanged(_ second: String, _ isTrusted: Bool) {
        let headers = [
            ("ETag", "\"a\""), ("Last-Modified", "Sun, 06 Nov 1994 08:49:36 GMT"),
            ("Date", "Sun, 06 Nov 1994 08:49:\(second) GMT"),
        ]
        let facts = ResponseFacts(status: 200, headers: headers.map { (name: $0.0, value: $0.1) })
        #expect(facts.validators.strong == (isTrusted ? "\"a\"" : nil))
    }

    /// RFC 9112, section 6.3.
    @Test func ignoresContentLengthWithTransferCoding() {
        func length(_ headers: [(name: String, value: String)]) -> Int64? {
            ResponseFacts(status: 200, headers: headers).contentLength
        }
        #expect(length([("Content-Length", "3")]) == 3)
        #expect(length([("Content-Length", "3, 3")]) == 3)
        #expect(length([("Content-Length", "3, 4")]) == nil)
        #expect(length([("Content-Length", "+3")]) == nil)
        #expect(length([("Content-Length", "3"), ("Transfer-Encoding", "chunked")]) == nil)
    }

    @Test func readsRetryAfterInSecondsAndAsDate() {
        func delay(_ value: String) -> Double? {
            ResponseFacts(status: 503, headers: [(name: "Retry-After", value: value)]).retryDelay(at: now)
        }
        #expect(delay("120") == 120)
        #expect(delay("Mon, 19 Aug 2019 15:24:14 GMT") == 59.75)
        #expect(delay("Mon, 19 Aug 2019 15:00:00 GMT") == 0)
        for nonsense in ["-1", "soon", "", "1.5", "1e3", "99 bottles"] { #expect(delay(nonsense) == nil) }
    }
}
