import HTTPTypes
import Testing

@testable import HTTPServer

/// The ranges of a `Range` field for a file with 1000 bytes.
@Suite struct RequestedRangesTests {
    private func requested(
        _ range: String?, ifRange: String? = nil, method: HTTPRequest.Method = .get, size: Int64 = 1000
    ) -> RequestedRanges {
        var head = RequestHead(method: method, target: "/")
        head.headers[.range] = range
        head.headers[.ifRange] = ifRange
        return RequestedRanges(of: head, size: size, tag: "\"tag\"")
    }

    @Test(
        arguments: [
            ("bytes=0-0", [0...0]), ("bytes=0-999", [0...999]), ("bytes=999-", [999...999]),
            ("bytes=5-5000", [5...999]),
            ("bytes=-1", [999...999]), ("bytes=-5000", [0...999]), ("BYTES=1-2", [1...2]), ("bytes= 1-2", [1...2]),
            ("bytes=0-1,5-6", [0...1, 5...6]), ("bytes=5-6, 0-1", [5...6, 0...1]), ("bytes=,0-1,,", [0...1]),
            // Ranges outside the file are omitted.
            ("bytes=0-1,2000-", [0...1]), ("bytes=-0,3-4", [3...4]),
        ] as [(String, [ClosedRange<Int64>])])
    func parsesRanges(_ range: String, _ expected: [ClosedRange<Int64>]) {
        #expect(requested(range) == .parts(expected))
    }

    @Test(arguments: [
        "lines=1-2", "bytes=5-1", "bytes=a-b", "bytes=-", "bytes=+1-2", "bytes", "bytes=", "bytes=,", "bytes=1 -2",
        "bytes=0-1;5-6", "bytes=0-1,x", "bytes=1-2-3", "bytes=99999999999999999999-",
    ])
    func invalidRangesSelectTheWholeFile(_ range: String) { #expect(requested(range) == .whole) }

    @Test(arguments: ["bytes=1000-", "bytes=-0", "bytes=1000-2000,3000-4000"])
    func rangesOutsideAreUnsatisfiable(_ range: String) { #expect(requested(range) == .unsatisfiable) }

    @Test func rangesOfAnEmptyFileAreUnsatisfiable() { #expect(requested("bytes=0-", size: 0) == .unsatisfiable) }

    /// RFC 9110, section 17.15.
    @Test func tooManyRangesSelectTheWholeFile() {
        let many = (0..<33).map { "\($0 * 2)-\($0 * 2)" }.joined(separator: ",")
        #expect(requested("bytes=" + many) == .whole)
        #expect(requested("bytes=0-,0-") == .whole)
        #expect(requested("bytes=0-499,500-999") == .parts([0...499, 500...999]))
    }

    @Test func ifRangeOfAnotherVersionSelectsTheWholeFile() {
        #expect(requested("bytes=0-1", ifRange: "\"tag\"") == .parts([0...1]))
        for other in ["\"other\"", "W/\"tag\"", "Sat, 29 Oct 1994 19:43:31 GMT"] {
            #expect(requested("bytes=0-1", ifRange: other) == .whole)
        }
    }

    @Test func rangesApplyOnlyToGet() {
        #expect(requested("bytes=0-1", method: .head) == .whole)
        #expect(requested(nil) == .whole)
    }
}
