import Formats
import Testing

@testable import Client

/// Documents of the service as text.
@Suite struct ResponseTests {
    private func text(_ json: JSON?) -> String? { json?.written }

    @Test func keepsMembersInOrder() {
        let json = JSON(
            document: Array(#" {"b" : [1, {"x":"]}\"["}] ,"a":{"deep":[[],{}]},"n":-1.5e3, "t":true} "#.utf8 + [10]))
        #expect(json.parsed?.objectValue?.names == ["b", "a", "n", "t"])
        #expect(text(json["b"]) == #"[1,{"x":"]}\"["}]"#)
        #expect(text(json["a"]) == #"{"deep":[[],{}]}"#)
        // In the service's notation.
        #expect(text(json["n"]) == "-1500")
        #expect(text(json["t"]) == "true")
        #expect(json["missing"] == nil)
        #expect(json["b"]?.elements.map { text($0) } == ["1", #"{"x":"]}\"["}"#])
        #expect(json.elements.isEmpty)
    }

    @Test(arguments: ["", "[", "[1", "{\"a\"", "{\"a\":", "[\"", "\"\\", "[1,2", "}", "{]", "[}"])
    func readsInvalidJSONWithoutOverrun(_ json: String) {
        _ = JSON(document: json.utf8).parsed
        #expect(JSON(document: json.utf8).elements.count <= 2)
    }

    @Test func joinsPagesIntoOneDocument() throws {
        var list = GatheredList(member: "jobs")
        list.elements = [.text("{\"id\":1}"), .text("{\"id\":2}")]
        #expect(text(list.text) == #"{"jobs":[{"id":1},{"id":2}],"next_cursor":null}"#)
        list.next = "a\"b"
        #expect(text(list.text)?.hasSuffix(#""next_cursor":"a\"b"}"#) == true)
    }
}
