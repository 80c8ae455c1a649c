import Downloads
import Foundation
import HTTPSemantics

@testable import API
@testable import Formats

/// The bodies of requests.
extension FuzzTarget {
    /// Accepted text is JSON by another parser, and is the same value after it is written.
    static let json = FuzzTarget("json") { bytes in
        guard let value = try? JSON(parsing: bytes) else { return }
        // A whole number may change its type: 1e2 is written as 100.
        let written = value.bytes
        guard let again = try? JSON(parsing: written) else { fatalError("the written text is not JSON") }
        require(again.bytes == written, "the written text changed")
        let other = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
        require(other != nil, "Foundation refuses it")
    }

    /// A list is the same, read by element or at once.
    static let jsonList = FuzzTarget("json-list") { bytes in
        let limit = 64
        var reader = JSONListReader("jobs", in: bytes, elementsOfAtMost: limit)
        var elements: [JSON] = []
        do throws(JSONFault) {
            while true {
                switch try reader.next() {
                case .element(let element): elements.append(element)
                case .end:
                    guard let whole = try? JSON(parsing: bytes) else { fatalError("the document is not JSON") }
                    require(whole == ["jobs": .array(elements)], "the elements differ")
                    return
                case .notAList, .otherMember, .notAnObject, .tooLarge: return
                }
            }
        } catch {
            let whole = try? JSON(parsing: bytes)
            require(whole == nil || bytes.count > limit, "the document is JSON: \(error)")
        }
    }

    /// An accepted job can be requested; the pointer of a refusal leads to a member of the document, or to one that is
    /// missing from it.
    static let job = FuzzTarget("job") { bytes in
        guard let value = try? JSON(parsing: bytes), case .object(let object) = value else { return }
        var reader = FieldReader(object)
        do throws(Problem) {
            let spec = try JobSpec(reading: &reader)
            try reader.finish()
            for url in [spec.url] + spec.mirrors where !Rehearsal.isRehearsal(url) {
                require(URLRule.fault(in: url) == nil, "the URL has a fault")
                require(URLRule.normalized(url) == url, "the URL is not normalized")
            }
            for field in spec.headers { require(field.fault == nil, "the header has a fault") }
            if let size = spec.maxSize { require(size >= 0, "the size is negative") }
            if let template = spec.destination.filename {
                require(FilenameTemplate(template) != nil, "the template has a fault")
            }
        } catch {
            require(
                error.pointer.map { $0.isEmpty || $0.utf8.first == UInt8(ascii: "/") } ?? true, "the pointer is invalid"
            )
            require(error.kind.status.code == 422, "the refusal is \(error.kind)")
        }
    }
}
