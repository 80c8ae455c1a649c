import Formats
import Foundation
import HTTPSemantics
import Testing

@Suite struct HTTPDateTests {
    @Test func readsEveryFormOfHTTPDate() {
        for text in [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        ] {
            #expect(Date(httpDate: text) == Date(milliseconds: 784_111_777_000), "\(text)")
        }
        for text in [
            "06 Nov 1994", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Foo 1994 08:49:37 GMT", "",
            "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "-5",
        ] {
            #expect(Date(httpDate: text) == nil)
        }
    }
}
