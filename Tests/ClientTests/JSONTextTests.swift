import Testing

@testable import Client

@Suite struct JSONTextTests {
    private func text(_ json: JSONText?) -> String? { json.map { String(decoding: $0.bytes, as: UTF8.self) } }

    @Test func keepsMembersInOrder() {
        let json = JSONText(
            Array(#" {"b" : [1, {"x":"]}\"["}] ,"a":{"deep":[[],{}]},"n":-1.5e3, "t":true} "#.utf8 + [10]))
        #expect(json.members.map(\.name) == ["b", "a", "n", "t"])
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
        _ = JSONText(Array(json.utf8)).members
        #expect(JSONText(Array(json.utf8)).elements.count <= 2)
    }

    @Test func joinsPagesIntoOneDocument() throws {
        var list = GatheredList(member: "jobs")
        list.elements = [JSONText(Array("{\"id\":1}".utf8)), JSONText(Array("{\"id\":2}".utf8))]
        #expect(text(list.text) == #"{"jobs":[{"id":1},{"id":2}],"next_cursor":null}"#)
        list.nextCursor = "a\"b"
        #expect(text(list.text)?.hasSuffix(#""next_cursor":"a\"b"}"#) == true)
    }
}
