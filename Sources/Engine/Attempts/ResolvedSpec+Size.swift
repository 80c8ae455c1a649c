import Compression
import Downloads
import HTTPSemantics

extension ResolvedSpec {
    /// Why the job refuses a file of `size` bytes; nil when it accepts it.
    func refusal(ofSize size: Int64) -> Failure? {
        if let wanted = expectedSize, wanted != size {
            return Failure(.sizeMismatch, "The file has \(size) bytes; \(wanted) were expected.")
        }
        if let limit = sizeLimit, size > limit.bytes { return limit.failure }
        return nil
    }
}

extension ResponseVerdict {
    /// Judges a response, and also refuses a file whose size the job refuses, before fetchd writes a byte.
    static func judge(
        _ facts: ResponseFacts, asked: RequestedRange, bytesHad: Int64, _ access: RequestAccess,
        _ spec: ResolvedSpec
    ) -> ResponseVerdict {
        let verdict = judge(facts, asked: asked, bytesHad: bytesHad, access)
        guard case .accept(_, _, let size, _) = verdict else { return verdict }
        if spec.decodes, let coding = facts.contentCoding {
            // The size of the decoded file is not known yet.
            return ContentCoding(coding) == nil ? .fail(Failure(ofUnknownCoding: coding, facts.status)) : verdict
        }
        return size.flatMap(spec.refusal(ofSize:)).map(ResponseVerdict.fail) ?? verdict
    }
}

extension Failure {
    fileprivate init(ofUnknownCoding coding: String, _ status: Int) {
        self.init(
            .badStatus,
            "The server coded the body as \(coding), which fetchd cannot decode. Without `decode`, the bytes are stored as they come.",
            status: status)
    }
}
