import Testing

@testable import HTTPSemantics

@Suite struct ContentRangeTests {
    @Test func readsRanges() {
        #expect(ContentRange("bytes 0-99/200") == .bytes(first: 0, last: 99, complete: 200))
        #expect(ContentRange("Bytes  5-5/*") == .bytes(first: 5, last: 5, complete: nil))
        #expect(ContentRange("bytes */200") == .unsatisfied(complete: 200))
    }

    @Test(arguments: [
        "", "bytes", "bytes 0-99", "bytes 99-0/200", "bytes 0-200/200", "bytes */*", "bytes -5/10", "bytes 1-+2/3",
        "items 0-1/2", "bytes 0-1/2 3",
        // The position after the last byte, and the length, would be larger than Int64.
        "bytes 0-9223372036854775807/*", "bytes 9223372036854775807-9223372036854775807/*",
        "bytes 0-9223372036854775808/*", "bytes */9223372036854775807",
    ])
    func refusesRanges(_ text: String) {
        #expect(ContentRange(text) == nil)
    }

    @Test func readsTheLargestRange() {
        let last = Int64.max - 1
        #expect(ContentRange("bytes 0-\(last)/*") == .bytes(first: 0, last: last, complete: nil))
        #expect(ContentRange("bytes 0-\(last - 1)/\(last)")?.isWhole == true)
    }
}
