import Foundation
import Testing

@testable import Formats

/// The writer writes the same bytes as a tree of values.
@Suite struct JSONWriterTests {
    private static let texts: [String?] = [
        nil, "", "a", "{", "[", "\"", "\\", "é\u{1}\n\t\r", String(repeating: "long ", count: 20) + "{",
        String(repeating: "ü\"", count: 30),
    ]

    @Test(arguments: texts) func writesWhatATreeOfValuesWrites(_ text: String?) {
        let number = text.map { Double($0.utf8.count) / 3 }
        let time = text.map { Date(milliseconds: Int64($0.utf8.count) * 1_234_567_891_011) }
        let tree: JSON = [
            "text": .optional(text), "count": .optional(text?.utf8.count), "number": .optional(number),
            "wide": .optional(text.map { _ in Int64.min }), "infinite": .number(.infinity), "is": .bool(text == nil),
            "time": .optional(time), "texts": .strings([text, text].compactMap { $0 }), "tree": ["a": [1, .null]],
            "empty": [:], "object": ["text": .optional(text)],
            "optional": text.map { ["text": .string($0)] } ?? .null,
            "objects": .array([1, 2].map { ["number": .integer($0)] }), "none": [],
        ]
        var writer = JSONWriter()
        writer.object { writer in
            writer.member("text", text)
            writer.member("count", text?.utf8.count)
            writer.member("number", number)
            writer.member("wide", text.map { _ in Int64.min })
            writer.member("infinite", Double.infinity)
            writer.member("is", text == nil)
            writer.member("time", time)
            writer.member("texts", [text, text].compactMap { $0 })
            writer.member("tree", JSON.object(["a": [1, .null]]))
            writer.object("empty") { _ in }
            writer.object("object") { $0.member("text", text) }
            writer.object("optional", text) { $1.member("text", $0) }
            writer.array("objects", [1, 2]) { number, writer in writer.object { $0.member("number", number) } }
            writer.member("none", [String]())
        }
        #expect(writer.text == tree.written)
        writer.endLine()
        #expect(writer.bytes == tree.line)
    }
}
