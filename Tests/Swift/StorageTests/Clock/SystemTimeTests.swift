import Base
import Storage
import Testing

@Suite struct SystemTimeTests {
    @Test func asksUntilTheAnswerIsTrue() async {
        let questions = Locked(0)
        await SystemTime().wait(every: .milliseconds(1)) {
            questions.withLock { questions in
                questions += 1
                return questions == 3
            }
        }
        #expect(questions.withLock(\.self) == 3)
    }

    /// The stop of a service does not wait for a disk that does not respond.
    @Test func endsWhenItIsCancelledAlsoDuringAQuestion() async {
        let (asked, answer) = (AsyncAutoResetEvent(), AutoResetEvent())
        let wait = Task {
            await SystemTime().wait(every: .milliseconds(1)) {
                asked.set()
                answer.wait()
                return true
            }
        }
        await asked.wait()
        wait.cancel()
        await wait.value
        answer.set()
    }
}
