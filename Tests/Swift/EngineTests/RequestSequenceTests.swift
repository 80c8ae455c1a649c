import CurlClient
import Downloads
import Testing

@testable import Engine

/// What an attempt asks next.
@Suite struct RequestSequenceTests {
    private func sequence(offset: Int64 = 0) -> RequestSequence {
        RequestSequence(from: "https://host/a", asking: RequestedRange(offset: offset))
    }

    private func code(_ step: RequestSequence.Step) -> Failure.Code? {
        if case .failed(let failure) = step { failure.code } else { nil }
    }

    @Test func twentyRedirectsAreFollowedAndNotOneMore() {
        var sequence = sequence()
        for hop in 1...20 {
            #expect(
                sequence.step(after: .rejected, .redirect(status: 302), redirectingTo: "https://host/\(hop)")
                    == .askAgain)
        }
        #expect(sequence.url == "https://host/20")
        #expect(sequence.redirects.count == 20)
        #expect(
            code(sequence.step(after: .rejected, .redirect(status: 302), redirectingTo: "https://host/21"))
                == .tooManyRedirects)
    }

    @Test(arguments: [nil, "ftp://host/a", "file:///etc/passwd", "https://"])
    func redirectsThatCannotBeFollowed(_ target: String?) {
        var sequence = sequence()
        #expect(code(sequence.step(after: .rejected, .redirect(status: 302), redirectingTo: target)) == .badURL)
    }

    @Test func onlyOneRestart() {
        var sequence = sequence(offset: 100)
        #expect(sequence.step(after: .rejected, .askFromStart(.etagChanged), redirectingTo: nil) == .askAgain)
        #expect(sequence.asked == RequestedRange(offset: 0, restart: .etagChanged))
        #expect(code(sequence.step(after: .rejected, .askFromStart(.badRange), redirectingTo: nil)) == .badRange)
    }

    /// The exchange was ended by us, or had come to its end before that.
    @Test(arguments: [TransferResult.Outcome.cancelled, .completed])
    func aBodyThatWasNotWhatItsHeadSaidIsAskedForAgain(_ outcome: TransferResult.Outcome) {
        var sequence = sequence(offset: 100)
        #expect(sequence.step(after: outcome, .askFromStart(.badRange), redirectingTo: nil) == .askAgain)
        #expect(sequence.asked == RequestedRange(offset: 0, restart: .badRange))
    }

    @Test func ends() {
        var sequence = sequence(offset: 100)
        let accept = ResponseDecision.accept(at: 100, skipping: 0, size: 200, .resumed(offset: 100))
        #expect(sequence.step(after: .completed, accept, redirectingTo: nil) == .arrived)
        #expect(
            sequence.step(after: .rejected, .alreadyComplete(offset: 100), redirectingTo: nil)
                == .alreadyThere(size: 100))
        #expect(sequence.step(after: .cancelled, accept, redirectingTo: nil) == .abandoned)
        #expect(code(sequence.step(after: .failed(.timedOut(.idle)), accept, redirectingTo: nil)) == .timedOut)
        #expect(code(sequence.step(after: .completed, nil, redirectingTo: nil)) == .connectionLost)
    }
}
