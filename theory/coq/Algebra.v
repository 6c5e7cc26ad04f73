(* The tactic algebra: identities of numbers, for vectors of any length.

     1. the batch becomes mu 1 + c with <1, c> = 0 and <c, c> = m (sigma^2 - eps), yhat becomes
        c / sigma, the layer's output gamma yhat + beta 1, the loss's gradient and Hessian there a
        vector and a symmetric map; every root becomes a letter r with r r known;
     2. the difference of both sides is read as a term of the abstract arithmetic (reification);
     3. the arithmetic's program, proved right in Abstract.v, expands it inside the kernel;
     4. what is left is an identity of rational functions: field_equation.

   It expects 0 < INR m and 0 < variance y + eps among the hypotheses, and twice_differentiable for
   a loss whose Hessian occurs. *)

From Coq Require Export Reals Lra List Psatz.
From BatchNorm Require Export Vectors Calculus Layer.
From BatchNorm Require Import Abstract FieldEquation.
Import ListNotations.
Open Scope R_scope.

(* ---- letters for everything ---- *)

(* A vector moved by nothing. *)
Lemma unmoved m (z y : vec m) a : (z + a *: (y - y))%V = z.
Proof.
  apply vec_eq. intro w. rewrite dot_vadd_r, dot_vscale_r, dot_vsub_r. ring.
Qed.

Lemma root_cases x : sqrt (x * x) = x \/ sqrt (x * x) = - x.
Proof.
  destruct (Rle_dec 0 x) as [P | P]; [left; now apply sqrt_square|right].
  replace (x * x) with ((- x) * (- x)) by ring. apply sqrt_square. lra.
Qed.

(* The layer at a batch other than y, or with another eps. *)
Lemma normalize_other m e (y : vec m) :
  normalize e y = (1 / deviation e y *: (y - dot one y / INR m *: one))%V.
Proof. now rewrite <- mean_dot, normalize_centre. Qed.
Lemma deviation_other m e (y : vec m) : 0 <= variance y + e ->
  deviation e y * deviation e y = norm2 (y - dot one y / INR m *: one)%V / INR m + e.
Proof. intro P. unfold deviation. now rewrite sqrt_sqrt, variance_dot, <- mean_dot by exact P. Qed.

(* A difference that a hypothesis says is zero: an inner product in it is solved for. *)
Definition vanishes (a : R) := a = 0.
Lemma vanishes_of a b : a = b -> vanishes (a - b). Proof. unfold vanishes. lra. Qed.

Lemma inverse_nonneg r : 0 <= r -> 0 <= 1 / r.
Proof.
  intros [P | <-]; [left; apply Rdiv_lt_0_compat; lra|]. unfold Rdiv. rewrite Rinv_0. lra.
Qed.
Ltac under_root := first [ assumption | lra | apply pow2_ge_0 | apply dot_pos
  | match goal with
    | |- 0 <= 1 / ?a => apply inverse_nonneg; under_root
    | |- 0 <= ?a * ?b => apply Rmult_le_pos; under_root
    | |- 0 <= ?a / INR _ =>
        apply Rmult_le_pos; [under_root | left; apply Rinv_0_lt_compat; assumption]
    | |- 0 <= ?a + ?b => apply Rplus_le_le_0_compat; under_root
    end ].

(* Every root becomes a letter r with r r = e; the root of a square x x is x or -x. *)
Ltac roots :=
  repeat match goal with
  | |- context [sqrt ?e] =>
      lazymatch e with context [sqrt _] => fail | _ => idtac end;
      lazymatch e with
      | ?x * ?x =>
        let C := fresh "C" in destruct (root_cases x) as [C | C]; rewrite !C in *; clear C
      | _ =>
        let Root := fresh "Root" in let r := fresh "r" in
        assert (Root : sqrt e * sqrt e = e) by (apply sqrt_sqrt; under_root);
        let RootPos := fresh "RootPos" in
        first [ assert (RootPos : 0 < sqrt e) by (apply sqrt_lt_R0; assumption)
              | pose proof (sqrt_pos e) as RootPos ];
        set (r := sqrt e) in *; clearbody r; revert Root
      end
  end.

Ltac other_layers eps y :=
  repeat match goal with
  | |- context [normalize ?e ?Y] =>
      tryif (constr_eq e eps; constr_eq Y y) then fail else rewrite (normalize_other _ e Y)
  end;
  repeat match goal with
  | |- context [deviation ?e ?Y] =>
      tryif (constr_eq e eps; constr_eq Y y) then fail else idtac;
      let Root := fresh "Root" in let r := fresh "r" in
      assert (Root : deviation e Y * deviation e Y = _)
        by (apply deviation_other; first
              [ left; assumption
              | apply Rplus_le_le_0_compat; [apply variance_nonneg; assumption | lra] ]);
      let RootPos := fresh "RootPos" in
      first [ assert (RootPos : 0 < deviation e Y) by (apply deviation_pos; assumption)
            | assert (RootPos : 0 <= deviation e Y) by apply sqrt_pos ];
      set (r := deviation e Y) in *; clearbody r; revert Root
  end.

(* From here on the batch is mu 1 + c; sigma and mu are numbers, g and H a vector and a map. *)
Ltac letters_of_unit y eps Mpos P :=
  let g := fresh "g" in let H := fresh "H" in
  let c := fresh "c" in let s := fresh "s" in let mu := fresh "mu" in
  let Batch := fresh "Batch" in let OneC := fresh "OneC" in let CC := fresh "CC" in
  let Hadd := fresh "Hadd" in let Hscale := fresh "Hscale" in let Hsym := fresh "Hsym" in
  repeat match goal with D : twice_differentiable _ (?g *: normalize ?e ?y + ?b *: one)%V |- _ =>
    rewrite <- (bn_normalize g b e y) in * end;
  repeat rewrite mean_dot; repeat rewrite sum_dot;
  pose proof (dot_one_centre Mpos y) as OneC;
  pose proof (norm2_centre Mpos P) as CC;
  pose proof (y_centre y) as Batch;
  first
  [ match goal with D : twice_differentiable ?L ?z |- _ =>
      pose proof (fun a b => @hessian_add _ L z a b D) as Hadd;
      pose proof (fun s a => @hessian_scale _ L z s a D) as Hscale;
      pose proof (fun a b => @hessian_symmetric _ L z a b D) as Hsym;
      set (g := gradient L z) in *; set (H := hessian L z) in *; clearbody g H
    end
  | match type of y with vec ?m =>
      pose (H := fun a : vec m => a);
      assert (Hadd : forall a b, H (a + b)%V = (H a + H b)%V) by reflexivity;
      assert (Hscale : forall s a, H (s *: a)%V = (s *: H a)%V) by reflexivity;
      assert (Hsym : forall a b, dot a (H b) = dot (H a) b) by reflexivity;
      clearbody H
    end ];
  rewrite ?bn_normalize; other_layers eps y; rewrite ?(normalize_centre eps y);
  set (c := centre y) in *; set (s := deviation eps y) in *; set (mu := mean y) in *;
  clearbody c s mu;
  rewrite ?Batch.

(* ---- reading a term, and expanding it ---- *)

Ltac add x l :=
  match l with
  | nil => constr:(cons x nil)
  | cons x _ => l
  | cons ?a ?r => let r' := add x r in constr:(cons a r')
  end.
Ltac index x l :=
  match l with
  | cons x _ => constr:(O)
  | cons _ ?r => let i := index x r in constr:(S i)
  end.

Ltac atoms_s H e s :=
  match s with
  | ?a + ?b => let e := atoms_s H e a in atoms_s H e b
  | ?a - ?b => let e := atoms_s H e a in atoms_s H e b
  | ?a * ?b => let e := atoms_s H e a in atoms_s H e b
  | ?a / ?b => let e := atoms_s H e a in atoms_s H e b
  | - ?a => atoms_s H e a
  | ?a ^ ?n => atoms_s H e a
  | IZR _ => e
  | dot ?a ?b => let e := atoms_v H e a in atoms_v H e b
  | _ => match e with (?vs, ?ss) => let ss := add s ss in constr:((vs, ss)) end
  end
with atoms_v H e v :=
  match v with
  | vadd ?a ?b => let e := atoms_v H e a in atoms_v H e b
  | vsub ?a ?b => let e := atoms_v H e a in atoms_v H e b
  | vscale ?s ?a => let e := atoms_s H e s in atoms_v H e a
  | H ?a => atoms_v H e a
  | _ => match e with (?vs, ?ss) => let vs := add v vs in constr:((vs, ss)) end
  end.

Ltac quote_s H vs ss s :=
  match s with
  | ?a + ?b => let a := quote_s H vs ss a in let b := quote_s H vs ss b in constr:(SAdd a b)
  | ?a - ?b => let a := quote_s H vs ss a in let b := quote_s H vs ss b in constr:(SSub a b)
  | ?a * ?b => let a := quote_s H vs ss a in let b := quote_s H vs ss b in constr:(SMul a b)
  | ?a / ?b => let a := quote_s H vs ss a in let b := quote_s H vs ss b in constr:(SDiv a b)
  | - ?a => let a := quote_s H vs ss a in constr:(SNeg a)
  | ?a ^ ?n => let a := quote_s H vs ss a in constr:(SPow a n)
  | IZR ?z => constr:(SZ z)
  | dot ?a ?b => let a := quote_v H vs ss a in let b := quote_v H vs ss b in constr:(SDot a b)
  | _ => let i := index s ss in constr:(SA i)
  end
with quote_v H vs ss v :=
  match v with
  | vadd ?a ?b => let a := quote_v H vs ss a in let b := quote_v H vs ss b in constr:(VAdd a b)
  | vsub ?a ?b => let a := quote_v H vs ss a in let b := quote_v H vs ss b in constr:(VSub a b)
  | vscale ?s ?a =>
      let s := quote_s H vs ss s in let a := quote_v H vs ss a in constr:(VScale s a)
  | H ?a => let a := quote_v H vs ss a in constr:(VH a)
  | _ => let i := index v vs in constr:(VA i)
  end.

(* The vectors 1 and c are the atoms 0 and 1; m, sigma and eps are the numbers 0, 1 and 2. *)
Definition known (i j : nat) : option mexpr :=
  match i, j with
  | O, O => Some (MA 0)
  | O, S O => Some (MZ 0)
  | S O, S O => Some (MMul (MA 0) (MSub (MPow (MA 1) 2) (MA 2)))
  | _, _ => None
  end.

Lemma known_right m (vs : list (vec m)) (ss : list R) (c : vec m) (s e : R) H :
  dot one c = 0 -> norm2 c = INR m * (s ^ 2 - e) ->
  forall i j x, known i j = Some x ->
  dot (atom m (one :: c :: vs) i) (atom m (one :: c :: vs) j)
  = meval m (one :: c :: vs) (INR m :: s :: e :: ss) H x.
Proof.
  intros A B i j x E.
  destruct i as [|[|i]], j as [|[|j]]; simpl in E; try discriminate; injection E as <-;
    cbn -[pow INR].
  - apply dot_one_one.
  - exact A.
  - exact B.
Qed.

(* E : A = its expansion. *)
Ltac expansion eps A E :=
  match goal with
  | Hadd : forall a b, ?H (a + b)%V = _, Hscale : forall s a, ?H (s *: a)%V = _,
    Hsym : forall a b, dot a (?H b) = _, OneC : dot (@one ?m) ?c = 0,
    CC : dot ?c ?c = INR ?m * (?s ^ 2 - _) |- _ =>
      let e := atoms_s H ([@one m; c], [INR m; s; eps]) A in
      match e with (?vs, ?ss) =>
        let q := quote_s H vs ss A in
        let t := eval vm_compute in (sexpand known q) in
        let right := match vs with _ :: _ :: ?vr => match ss with _ :: _ :: _ :: ?sr =>
          constr:(@sexpand_ok known m vs ss H Hadd Hscale Hsym
                    (@known_right m vr sr c s eps H OneC CC) q) end end in
        let step := constr:(@f_equal _ _ (meval m vs ss H) _ _
                              (@eq_refl mexpr t <: sexpand known q = t)) in
        assert (E : A = meval m vs ss H t);
        [exact (eq_trans right step) | cbv [meval snum atom List.nth power] in E]
      end
  end.

Ltac expand eps :=
  match goal with |- ?A = 0 =>
    let E := fresh "E" in expansion eps A E; try rewrite E; clear E end;
  repeat match goal with Z : ?A <> 0 |- _ =>
    match A with context [dot _ _] => idtac end;
    let E := fresh "E" in expansion eps A E; try rewrite E in Z; clear E; revert Z end;
  repeat match goal with Z : vanishes ?A |- _ =>
    let E := fresh "E" in expansion eps A E; try rewrite E in Z; clear E; revert Z end;
  intros;
  repeat match goal with Root : ?r * ?r = ?A |- _ =>
    let E := fresh "E" in expansion eps A E;
    let S := fresh "Square" in
    assert (S : A = r * r) by (symmetry; exact Root); try rewrite E in S; clear E Root end.

(* ---- rational functions ---- *)

Ltac nonzero_atoms := repeat split; first [assumption | apply Rgt_not_eq; assumption | lra].

(* A root whose square is that of a number known to be positive is that number. *)
Lemma same_root a b : 0 <= a -> 0 <= b -> b * b = a * a -> a = b.
Proof. intros A B E. apply Rsqr_inj; [exact A | exact B | unfold Rsqr; lra]. Qed.
Ltac known_roots :=
  repeat match goal with Q : ?e = ?r * ?r, Sp : 0 < ?s |- _ =>
    tryif constr_eq r s then fail else idtac;
    let Rp := fresh "Rp" in assert (Rp : 0 <= r) by (first [assumption | lra]);
    let X := fresh "X" in
    first
    [ assert (X : r = s)
        by (apply same_root; [exact Rp | lra | rewrite <- Q; field; nonzero_atoms]);
      clear Q Rp; subst r
    | match goal with Lp : 0 < ?l |- _ =>
        is_var s;
        assert (X : r = l * s)
          by (apply same_root; [exact Rp | nra | rewrite <- Q; field; nonzero_atoms]);
        clear Q Rp; subst r end ]
  end.

(* Two roots of one number are one. *)
Ltac same_roots :=
  repeat match goal with Q : ?e = ?r * ?r, Q' : ?f = ?s * ?s |- _ =>
    tryif constr_eq r s then fail else idtac;
    let X := fresh "X" in
    assert (X : r = s)
      by (apply same_root; [lra | lra | rewrite <- Q, <- Q'; field; nonzero_atoms]);
    clear Q; subst r
  end.

(* The equation of any other root's square is solved for an inner product linear in it. *)
Lemma affine_solve R e f0 f1 x :
  e = R -> e = f0 + x * (f1 - f0) -> f1 - f0 <> 0 -> x = (R - f0) / (f1 - f0).
Proof. intros <- -> N. field. exact N. Qed.

Ltac names_for_products :=
  repeat match goal with
  | |- context [dot ?a ?b] => let x := fresh "x" in set (x := dot a b) in *; clearbody x
  | Q : ?e = ?r * ?r |- _ => match e with context [dot ?a ?b] =>
      let x := fresh "x" in set (x := dot a b) in *; clearbody x end
  | Z : ?e <> 0 |- _ => match e with context [dot ?a ?b] =>
      let x := fresh "x" in set (x := dot a b) in *; clearbody x end
  | Z : vanishes ?e |- _ => match e with context [dot ?a ?b] =>
      let x := fresh "x" in set (x := dot a b) in *; clearbody x end
  | |- context [INR ?m] => is_var m; let x := fresh "M" in set (x := INR m) in *; clearbody x
  | Q : ?e = ?r * ?r |- _ => match e with context [INR ?m] =>
      is_var m; let x := fresh "M" in set (x := INR m) in *; clearbody x end
  end.

Ltac nonzero_product :=
  repeat first [ apply Rmult_integral_contrapositive_currified | apply pow_nonzero ];
  nonzero_atoms.
Ltac nonzero_slope :=
  first
  [ lra
  | match goal with |- ?e <> 0 =>
      let E := fresh in intro E; field_simplify_eq in E;
      [ first
        [ lra
        | match type of E with ?a = 0 =>
            let N := fresh in assert (N : a <> 0) by (clear E; nonzero_product); exact (N E) end ]
      | nonzero_atoms .. ]
    end
  | match goal with Mp : 0 < ?M |- ?e <> 0 =>
      let E := fresh in assert (E : e = / M) by (field; nonzero_atoms);
      rewrite E; apply Rinv_neq_0_compat, Rgt_not_eq, Mp
    end ].
Ltac solve_square :=
  match goal with Q : ?e = ?r * ?r |- _ =>
    match e with context [?x] =>
      is_var x; match type of x with R => idtac end;
      let f := eval pattern x in e in
      match f with ?F _ =>
        let f0 := eval cbv beta in (F 0) in let f1 := eval cbv beta in (F 1) in
        let X := fresh "X" in
        assert (X : x = (r * r - f0) / (f1 - f0));
        [ apply (affine_solve (r * r) e f0 f1 x Q); [field; nonzero_atoms | nonzero_slope]
        | clear Q; subst x ]
      end
    end
  end.
Ltac solve_zero :=
  match goal with Z : vanishes ?e |- _ =>
    match e with context [?x] =>
      is_var x; match type of x with R => idtac end;
      let f := eval pattern x in e in
      match f with ?F _ =>
        let f0 := eval cbv beta in (F 0) in let f1 := eval cbv beta in (F 1) in
        let X := fresh "X" in
        assert (X : x = (0 - f0) / (f1 - f0));
        [ apply (affine_solve 0 e f0 f1 x Z); [field; nonzero_atoms | nonzero_slope]
        | clear Z; subst x ]
      end
    end
  end.
(* The factors of a product that a hypothesis says is not zero. *)
Lemma factors_nonzero a b : a * b <> 0 -> a <> 0 /\ b <> 0.
Proof. intro N; split; intro E; apply N; rewrite E; ring. Qed.
Lemma negative_nonzero a : - a <> 0 -> a <> 0.
Proof. intros N E; apply N; rewrite E; ring. Qed.
Lemma inverse_nonzero a : / a <> 0 -> a <> 0.
Proof. intros N E; apply N; rewrite E; apply Rinv_0. Qed.
Ltac factors :=
  repeat match goal with
  | Z : ?a * ?b <> 0 |- _ => apply factors_nonzero in Z; destruct Z
  | Z : ?a / ?b <> 0 |- _ => apply (factors_nonzero a (/ b)) in Z; destruct Z
  | Z : / ?a <> 0 |- _ => apply inverse_nonzero in Z
  | Z : - ?a <> 0 |- _ => apply negative_nonzero in Z
  end.
(* What has a root that is not zero is not zero, nor are its factors. *)
Lemma square_nonzero a r : a = r * r -> r <> 0 -> a <> 0.
Proof. intros -> N. now apply Rmult_integral_contrapositive_currified. Qed.
Ltac radicands :=
  repeat match goal with Q : ?e = ?r * ?r, N : ?r <> 0 |- _ =>
    lazymatch goal with
    | _ : e <> 0 |- _ => fail
    | _ => pose proof (square_nonzero e r Q N)
    end
  end;
  factors.

(* The root of 1 / r: then r is known by it. *)
Lemma inverse_square r q : 1 / r = q * q -> r <> 0 -> r = 1 / (q * q) /\ q <> 0.
Proof.
  intros E N. assert (Q : q <> 0).
  - intros ->. apply (Rinv_neq_0_compat r N). unfold Rdiv in E. lra.
  - split; [|exact Q]. rewrite <- E. field. exact N.
Qed.
Ltac inverses :=
  repeat match goal with Q : 1 / ?r = ?q * ?q, N : ?r <> 0 |- _ =>
    is_var r; let E := fresh "E" in
    destruct (inverse_square r q Q N) as [E ?]; clear Q; subst r end.
Ltac size_is_square :=
  repeat match goal with Q : INR ?m = ?r * ?r |- _ =>
    is_var m; let M := fresh "M" in set (M := INR m) in *; clearbody M; subst M end.
(* Inner products that a hypothesis says are zero. *)
Ltac zeros :=
  repeat match goal with Z : dot ?a ?b = 0 |- _ =>
    match goal with
    | |- context [dot a b] => rewrite !Z
    | Q : ?e = ?r * ?r |- _ => match e with context [dot a b] => rewrite !Z in Q end
    | N : ?e <> 0 |- _ => match e with context [dot a b] => rewrite !Z in N end
    end
  end.
Ltac vanishing_products :=
  try (match goal with Z : vanishes _ |- _ =>
         size_is_square; names_for_products; repeat solve_zero end).
Ltac squares :=
  try (match goal with Q : ?e = ?r * ?r |- _ =>
         size_is_square; known_roots; same_roots; names_for_products; radicands; inverses; repeat solve_square end).

Ltac nonzero_by_hypothesis :=
  match goal with Z : ?q <> 0 |- _ =>
    let E := fresh in intro E; apply Z;
    first [lra | field_simplify_eq; [lra | repeat split; lra] | nra ] end.
(* A multiple, by what is positive, of the numerator of what a hypothesis says is not zero. *)
Ltac zero_times n :=
  first [ lra | lazymatch n with S ?n => match goal with A : 0 < ?a |- ?l = 0 =>
    lazymatch a with INR _ => idtac | _ => is_var a end;
    apply (Rmult_eq_reg_l a); [rewrite Rmult_0_r; zero_times n | apply Rgt_not_eq; exact A] end end ].
Ltac nonzero_multiple :=
  match goal with Z : ?q <> 0 |- _ =>
    let E := fresh in intro E; apply Z; clear Z; field_simplify_eq;
    [ zero_times 4%nat
    | solve [ repeat split;
              first [assumption | apply Rgt_not_eq; assumption | clear E; nonzero_multiple] ] .. ]
  end.
Ltac nonzero :=
  repeat split;
  first [ assumption | apply Rgt_not_eq; assumption | lra | nonzero_by_hypothesis | nonzero_slope
        | nonzero_multiple | idtac ].

(* ---- the tactic ---- *)

Lemma same_vector m (a b : vec m) : norm2 (a - b)%V = 0 -> a = b.
Proof.
  intro Z. apply vec_eq. intro w.
  pose proof (cauchy_schwarz w (a - b)%V) as C. rewrite Z, dot_vsub_r in C. nra.
Qed.

(* The unit's batch is a variable; its hypothesis is the first of its kind. *)
Ltac the_unit :=
  match reverse goal with P : 0 < variance ?y + _ |- _ =>
    let _ := match constr:(Set) with _ => is_var y end in P end.

Ltac algebra :=
  apply Rminus_diag_uniq;
  repeat match goal with Z : norm2 (_ - ?b)%V = 0 |- _ =>
    first [ rewrite !(same_vector _ _ _ Z)
          | tryif is_var b then fail else rewrite <- (same_vector _ _ _ Z)
          | idtac ];
    clear Z end;
  repeat match goal with Z : ?e <> 0 |- _ => revert Z | Z : vanishes _ |- _ => revert Z end;
  rewrite <- ?sqrt_Rsqr_abs; unfold Rsqr, Vectors.norm;
  rewrite ?variance_dot; unfold centre;
  roots;
  let P := the_unit in
  lazymatch type of P with 0 < @variance ?m ?y + ?eps =>
    lazymatch goal with Mpos : 0 < INR m |- _ =>
      letters_of_unit y eps Mpos P; intros; expand eps; zeros; vanishing_products; squares; factors; field_equation; nonzero
    end
  end.
