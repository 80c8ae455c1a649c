import Downloads
import HTTPSemantics

extension ResolvedSpec {
    /// Why the job refuses a file of `size` bytes; nil when it accepts it.
    func refusal(ofSize size: Int64) -> Failure? {
        if let wanted = expectedSize, wanted != size {
            return Failure(.sizeMismatch, "The file has \(size) bytes; \(wanted) were expected.")
        }
        if let limit = maxSize, size > limit { return .tooLarge(limit) }
        return nil
    }
}

extension ResponseVerdict {
    /// Judges a response, and also refuses a file whose size the job refuses, before fetchd writes a byte.
    static func judge(
        _ facts: ResponseFacts, asked: RequestedRange, bytesHad: Int64, _ spec: ResolvedSpec
    ) -> ResponseVerdict {
        let verdict = judge(facts, asked: asked, bytesHad: bytesHad)
        guard case .accept(_, _, let size?, _) = verdict else { return verdict }
        return spec.refusal(ofSize: size).map(ResponseVerdict.fail) ?? verdict
    }
}

extension Failure {
    static func tooLarge(_ limit: Int64) -> Failure {
        Failure(.tooLarge, "The file is larger than the job's max_size of \(limit) bytes.")
    }
}
