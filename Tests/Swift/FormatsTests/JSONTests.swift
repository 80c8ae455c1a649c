import Testing

@testable import Formats

@Suite struct JSONTests {
    @Test func writesParsedValue() throws {
        let text = #"{"a":[1,-2.5,true,false,null,"\u0001é\n\"\\"],"b":{},"c":9007199254740993}"#
        let value = try JSON(parsing: text)
        #expect(try JSON(parsing: value.written) == value)
        #expect(value.objectValue?["c"]?.integerValue == 9_007_199_254_740_993)
        #expect(value.objectValue?["a"]?.arrayValue?[5].stringValue == "\u{1}é\n\"\\")
    }

    @Test func keepsMemberOrderAndShortNumbers() {
        let value: JSON = ["z": 1, "a": .number(60), "m": .number(0.1), "n": .number(.nan), "t": .text("[1, 2]")]
        #expect(value.written == #"{"z":1,"a":60,"m":0.1,"n":null,"t":[1, 2]}"#)
    }

    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\":1,}", "{'a':1}", "{a:1}", "nul", "tru", "{\"a\":1} x", "\u{FEFF}{}", "[1 2]",
        "01", "-", "1.", ".5", "1e", "+1", "1e999", "\"\t\"", "\"\\x\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\udc00\"",
        "\"open", "[", "{\"a\"}", "{\"a\":}", "// no", "NaN", "Infinity", "{\"a\":1,\"a\":2}", "\"\\u+123\"",
    ])
    func refusesMalformedText(_ text: String) {
        #expect(throws: JSONFault.self) { try JSON(parsing: text) }
    }

    @Test func refusesInvalidUTF8() {
        #expect(throws: JSONFault.self) { try JSON(parsing: [0x22, 0xFF, 0x22]) }
    }

    @Test(arguments: [
        ("0", JSON.integer(0)), ("-0.5e2", .number(-50)), (" [ ] ", .array([])), ("\"\\ud83d\\ude00\"", "😀"),
        ("\"\\/\\b\\f\"", "/\u{8}\u{C}"), ("9223372036854775808", .text("9223372036854775808")),
    ])
    func parsesWellFormedText(_ text: String, _ value: JSON) throws {
        #expect(try JSON(parsing: text) == value)
    }

    @Test func reportsOffsetOfFault() {
        let fault = JSONFault(offset: 6, reason: "There is no value here")
        #expect(throws: fault) { try JSON(parsing: "{\"a\": x}") }
    }

    @Test func boundsNesting() {
        let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
        #expect(throws: (any Error).self) { try JSON(parsing: deep) }
    }
}
