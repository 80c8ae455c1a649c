import HTTPTypes
import Testing

@testable import HTTPServer

@Suite struct RequestFieldsTests {
    private static let accept = HTTPField.Name("aCCept")!

    @Test func findsValuesByNameInAnyCase() {
        var fields = RequestFields()
        for (name, value) in [("Accept", "a"), ("X-Accept", "x"), ("ACCEPT", "b"), ("Empty", ""), ("Cookie", "c=1")] {
            fields.append(name: Array(name.utf8), value: Array(value.utf8))
        }
        fields.append(name: Array("cookie".utf8), value: Array("d=2".utf8))
        #expect(fields[.accept] == "a, b")
        #expect(fields[values: Self.accept] == ["a", "b"])
        #expect(fields.count(of: .accept) == 2)
        #expect(fields[HTTPField.Name("empty")!] == "")
        #expect(fields[.cookie] == "c=1; d=2")
        #expect(fields[.range] == nil)
        #expect(!fields.contains(.range) && fields.contains(.accept))
    }

    @Test func setsAndRemovesFields() {
        var fields: RequestFields = [.range: "bytes=0-", .accept: "a", .origin: "o"]
        fields[.accept] = "b"
        #expect(fields[values: .accept] == ["b"])
        fields[.accept] = nil
        #expect(fields == [.range: "bytes=0-", .origin: "o"])
    }

    @Test func replacesBytesThatCouldEndAField() {
        var fields = RequestFields()
        fields.append(name: Array("Range".utf8), value: [97, 13, 10, 98, 0, 0xff])
        #expect(fields[.range] == "a  b \u{fffd}")
    }
}
