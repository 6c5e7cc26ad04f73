(* How the proofs of statements go.

   A statement is proved in five steps, none of which is particular to it:
     1. derivatives are replaced by their closed forms (Derivatives.v), whatever is built of sums,
        products, quotients, powers, roots and the layer being differentiated by the rules there;
     2. the batch becomes mu 1 + c with <1, c> = 0 and <c, c> = m (sigma^2 - eps), yhat becomes
        c / sigma, the layer's output gamma yhat + beta 1; every root a letter r with r r known;
     3. the term is read as one of the abstract arithmetic (reification);
     4. the arithmetic's program, proved right in Abstract.v, expands it inside the kernel;
     5. what is left is an identity of rational functions: field.
   An inequality is reduced to an identity, claimed - actual = certificate, and the certificate's
   terms are seen not to be negative.

     identity           proves A = B for numbers       vector_identity   the same for vectors
     nonneg, positive   prove 0 <= a, 0 < a by what a is made of
     nonneg_terms       the same of a sum, term by term
     by_certificate r   proves A <= B (or >=, <, >), where the larger - the smaller = r

   They expect among the hypotheses 0 < INR m, 0 < variance y + eps, and, where a loss is
   differentiated, (twice_)differentiable L (bn gamma beta eps y); the tactic facts finds them. *)

From Coq Require Export Reals Lra List Psatz.
From BatchNorm Require Export Vectors Calculus Layer Derivatives.
From BatchNorm Require Import Abstract.
Import ListNotations.
Open Scope R_scope.

(* ---- the setting ---- *)

Lemma positive_size m : (0 < m)%nat -> 0 < INR m. Proof. exact (lt_0_INR m). Qed.
Lemma size_ge_1 m : (0 < m)%nat -> 1 <= INR m.
Proof. intro Hm. change 1 with (INR 1). now apply le_INR. Qed.

(* What the hypotheses of a statement say of m, sigma, the variance and eps. *)
Ltac facts :=
  repeat match goal with x := _ |- _ => subst x end;
  repeat match goal with H : 0 < variance ?y |- _ =>
    lazymatch goal with _ : 0 < variance y + 0 |- _ => fail | _ => idtac end;
    assert (0 < variance y + 0) by lra
  end;
  repeat match goal with P : 0 < @variance ?m ?y + ?eps, Hm : (0 < ?m)%nat |- _ =>
    lazymatch goal with _ : 0 < deviation eps y |- _ => fail | _ => idtac end;
    lazymatch goal with
    | _ : 0 < INR m |- _ => idtac
    | _ => pose proof (positive_size m Hm); pose proof (size_ge_1 m Hm)
  end;
    lazymatch goal with Mpos : 0 < INR m |- _ =>
      pose proof (deviation_pos P); pose proof (deviation_ge Mpos P) end
  end;
  try match goal with E : 0 <= ?eps, Z : ?eps <> 0 |- _ => assert (0 < eps) by lra end.

(* ---- 1. derivatives ---- *)

Ltac nonzero_part :=
  first [ assumption | lra | apply Rgt_not_eq; assumption
        | match goal with P : 0 < variance ?y + ?e |- deviation ?e ?y <> 0 =>
            exact (Rgt_not_eq _ _ (deviation_pos P)) end
        | apply pow_nonzero; nonzero_part ].
Lemma root_pos a : sqrt a <> 0 -> 0 < a.
Proof.
  intro N. apply Rnot_le_lt. intro P. apply N. now apply sqrt_neg_0.
Qed.

(* The conditions under which a rule of differentiation holds. *)
Ltac condition :=
  cbv beta; rewrite ?move0;
  first [ assumption | lra
        | match goal with D : twice_differentiable ?L _ |- differentiable ?L _ =>
            exact (twice_once D) end
        | apply root_pos; assumption
        | repeat apply Rmult_integral_contrapositive_currified; nonzero_part ].

Ltac rule :=
  cbv beta;
  lazymatch goal with
  | |- sder (fun _ => ?c) _ => apply s_const
  | |- sder (fun t => @?f t + @?g t) _ => eapply s_add; rule
  | |- sder (fun t => @?f t - @?g t) _ => eapply s_sub; rule
  | |- sder (fun t => - @?f t) _ => eapply s_opp; rule
  | |- sder (fun t => @?f t * @?g t) _ => eapply s_mul; rule
  | |- sder (fun t => @?f t / @?g t) _ => eapply s_div; [rule | rule | condition]
  | |- sder (fun t => @?f t ^ 2) _ => eapply s_square; rule
  | |- sder (fun t => @?f t ^ ?n) _ => eapply s_pow; rule
  | |- sder (fun t => sqrt (@?f t)) _ => eapply s_sqrt; [rule | condition]
  | |- sder (fun t => dot (@?f t) (@?g t)) _ => eapply s_dot; rule
  | |- sder (fun t => sum (@?f t)) _ => eapply s_sum; rule
  | |- sder (fun t => mean (@?f t)) _ => eapply s_mean; rule
  | |- sder (fun t => deviation ?e (@?f t)) _ =>
      eapply s_deviation; [condition | condition | rule]
  | |- sder (fun t => along (fun x => ?L (bn ?g ?b ?e x)) (@?f t) (@?w t)) _ =>
      eapply s_along_bn;
        [condition | condition | rule | condition
        | unfold jacobian, normalize_jacobian, project; rule]
  | |- sder (fun t => along ?L (@?f t) (@?w t)) _ =>
      is_var L; eapply s_along_loss; [rule | condition | rule]
  | |- sder (fun t => ?L (@?f t)) _ => is_var L; eapply s_loss; [rule | condition]
  | |- vder (fun _ => ?c) _ => apply v_const
  | |- vder (fun t => move ?y ?u t) _ => apply v_move
  | |- vder (move ?y ?u) _ => apply v_move
  | |- vder (fun t => vadd (@?f t) (@?g t)) _ => eapply v_add; rule
  | |- vder (fun t => vsub (@?f t) (@?g t)) _ => eapply v_sub; rule
  | |- vder (fun t => vscale (@?f t) (@?g t)) _ => eapply v_scale; rule
  | |- vder (fun t => normalize ?e (@?f t)) _ =>
      eapply v_normalize; [condition | condition | rule]
  | |- vder (fun t => bn ?g ?b ?e (@?f t)) _ => eapply v_bn; [condition | condition | rule]
  | |- vder (fun t => valong (normalize ?e) (@?f t) (@?w t)) _ =>
      eapply v_valong_normalize;
        [condition | condition | rule | unfold normalize_jacobian, project; rule]
  | |- vder (fun t => valong (bn ?g ?b ?e) (@?f t) (@?w t)) _ =>
      eapply v_valong_bn;
        [condition | condition | rule | unfold jacobian, normalize_jacobian, project; rule]
  | |- vder (fun t => gradient (fun x => ?L (bn ?g ?b ?e x)) (@?f t)) _ =>
      eapply v_gradient_bn;
        [condition | condition | rule | condition
        | unfold jacobian, normalize_jacobian, project; rule]
  | |- vder (fun t => gradient ?L (@?f t)) _ =>
      is_var L; eapply v_gradient_loss; [rule | condition]
  end.

Ltac differentiability L :=
  match goal with
  | D : twice_differentiable L _ |- _ => constr:(twice_once D)
  | D : differentiable L _ |- _ => constr:(D)
  end.

(* ---- 2. letters for everything ---- *)

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

Ltac under_root := first [ assumption | lra | apply pow2_ge_0 | apply dot_pos
  | match goal with
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
      tryif (constr_eq e eps; constr_eq Y y) then fail else rewrite (normalize_other e Y)
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
  repeat rewrite mean_dot; repeat rewrite sum_dot;
  other_layers eps y;
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
  rewrite ?bn_normalize, ?(normalize_centre eps y);
  set (c := centre y) in *; set (s := deviation eps y) in *; set (mu := mean y) in *;
  clearbody c s mu;
  rewrite ?Batch.

(* ---- 3. and 4. the abstract arithmetic ---- *)

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
        [exact (eq_trans right step) | cbn [meval snum atom nth power] in E]
      end
  end.

Ltac expand eps :=
  match goal with |- ?A = 0 =>
    let E := fresh "E" in expansion eps A E; try rewrite E; clear E end;
  repeat match goal with Z : ?A <> 0 |- _ =>
    match A with context [dot _ _] => idtac end;
    let E := fresh "E" in expansion eps A E; try rewrite E in Z; clear E; revert Z end;
  intros;
  repeat match goal with Root : ?r * ?r = ?A |- _ =>
    let E := fresh "E" in expansion eps A E;
    let S := fresh "Square" in
    assert (S : A = r * r) by (symmetry; exact Root); try rewrite E in S; clear E Root end.

(* ---- 5. rational functions ---- *)

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
        assert (X : r = l * s)
          by (apply same_root; [exact Rp | nra | rewrite <- Q; field; nonzero_atoms]);
        clear Q Rp; subst r end ]
  end.

(* The equation of any other root's square is solved for an inner product linear in it. *)
Lemma affine_solve R e f0 f1 x :
  e = R -> e = f0 + x * (f1 - f0) -> f1 - f0 <> 0 -> x = (R - f0) / (f1 - f0).
Proof. intros <- -> N. field. exact N. Qed.

Ltac names_in e :=
  repeat match e with
  | context [dot ?a ?b] => let x := fresh "x" in set (x := dot a b) in *; clearbody x
  end.
Ltac names_for_products :=
  repeat match goal with
  | |- context [dot ?a ?b] => let x := fresh "x" in set (x := dot a b) in *; clearbody x
  | Q : ?e = ?r * ?r |- _ => match e with context [dot ?a ?b] =>
      let x := fresh "x" in set (x := dot a b) in *; clearbody x end
  | Z : ?e <> 0 |- _ => match e with context [dot ?a ?b] =>
      let x := fresh "x" in set (x := dot a b) in *; clearbody x end
  | |- context [INR ?m] => is_var m; let x := fresh "M" in set (x := INR m) in *; clearbody x
  | Q : ?e = ?r * ?r |- _ => match e with context [INR ?m] =>
      is_var m; let x := fresh "M" in set (x := INR m) in *; clearbody x end
  end.

Ltac nonzero_slope :=
  first
  [ lra
  | match goal with |- ?e <> 0 =>
      let E := fresh in intro E; field_simplify_eq in E; [revert E; nonzero_atoms | nonzero_atoms]
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
Ltac size_is_square :=
  repeat match goal with Q : INR ?m = ?r * ?r |- _ =>
    is_var m; let M := fresh "M" in set (M := INR m) in *; clearbody M; subst M end.
Ltac squares :=
  try (match goal with Q : ?e = ?r * ?r |- _ =>
         size_is_square; known_roots; names_for_products; repeat solve_square end).

Ltac nonzero_by_hypothesis :=
  match goal with Z : ?q <> 0 |- _ =>
    let E := fresh in intro E; apply Z;
    first [lra | field_simplify_eq; [lra | repeat split; lra] | nra ] end.
Ltac nonzero :=
  repeat split;
  first [assumption | apply Rgt_not_eq; assumption | lra | nonzero_by_hypothesis | idtac].

(* An identity without derivatives; the first pair of batch and eps that a hypothesis names is the
   unit's. *)
Ltac algebra :=
  apply Rminus_diag_uniq;
  repeat match goal with Z : ?e <> 0 |- _ => revert Z end;
  rewrite <- ?sqrt_Rsqr_abs; unfold Rsqr, Vectors.norm;
  rewrite ?variance_dot; unfold centre;
  roots;
  lazymatch reverse goal with P : 0 < @variance ?m ?y + ?eps |- _ =>
    lazymatch goal with Mpos : 0 < INR m |- _ =>
      letters_of_unit y eps Mpos P; intros; expand eps; squares; field; nonzero
    end
  end.

(* ---- derivatives in closed form ---- *)

(* A number D that is linear in u is <a, u>; the vector a.  Likewise <V, b> = <a, u>. *)
Ltac functional u D :=
  lazymatch D with
  | context [u] =>
    lazymatch D with
    | ?a + ?b => let a := functional u a in let b := functional u b in constr:((a + b)%V)
    | ?a - ?b => let a := functional u a in let b := functional u b in constr:((a - b)%V)
    | - ?a => let a := functional u a in constr:((-1 *: a)%V)
    | ?a * ?b =>
      lazymatch a with
      | context [u] => let a := functional u a in constr:((b *: a)%V)
      | _ => let b := functional u b in constr:((a *: b)%V)
      end
    | ?a / ?b => let a := functional u a in constr:((1 / b *: a)%V)
    | @mean ?m ?a => adjoint u a constr:((1 / INR m *: @one m)%V)
    | @sum ?m ?a => adjoint u a constr:(@one m)
    | dot ?a ?b => lazymatch a with context [u] => adjoint u a b | _ => adjoint u b a end
    end
  | _ => match type of u with vec ?m => constr:((0 *: @one m)%V) end
  end
with adjoint u V b :=
  lazymatch V with
  | u => b
  | context [u] =>
    lazymatch V with
    | vadd ?x ?y => let x := adjoint u x b in let y := adjoint u y b in constr:((x + y)%V)
    | vsub ?x ?y => let x := adjoint u x b in let y := adjoint u y b in constr:((x - y)%V)
    | vscale ?s ?x =>
      lazymatch s with
      | context [u] => let s := functional u s in constr:((dot x b *: s)%V)
      | _ => let x := adjoint u x b in constr:((s *: x)%V)
      end
    | valong (gradient ?L) ?z ?x => adjoint u x constr:(valong (gradient L) z b)
    end
  | _ => match type of u with vec ?m => constr:((0 *: @one m)%V) end
  end.
(* Proves D = <?a, u>, finding a. *)
Ltac linear_in u :=
  unfold jacobian, normalize_jacobian, project;
  lazymatch goal with |- ?D = dot ?a u => let v := functional u D in unify a v end;
  algebra.

Ltac close_derivatives :=
  repeat match goal with
  | Mpos : 0 < INR ?m, P : 0 < @variance ?m ?y + ?e, D : twice_differentiable ?L _
      |- context [hessian (fun x => ?L (bn ?g ?b ?e x)) ?y ?u] =>
        rewrite (@equation_41_42 _ L g b e y u Mpos P D); unfold hessian_form, centre
  | Mpos : 0 < INR ?m, P : 0 < @variance ?m ?y + ?e
      |- context [gradient (fun x => ?L (bn ?g ?b ?e x)) ?y] =>
        let D := differentiability L in rewrite (@gradient_through _ g b e y Mpos P L D)
  | Mpos : 0 < INR ?m, P : 0 < @variance ?m ?y + ?e
      |- context [along (fun x => ?L (bn ?g ?b ?e x)) ?y ?u] =>
        let D := differentiability L in rewrite (@along_through _ g b e y Mpos P L u D)
  | D : differentiable ?L ?z |- context [along ?L ?z ?u] => rewrite (@along_gradient _ L z u D)
  | D : twice_differentiable ?L ?z |- context [along ?L ?z ?u] =>
        rewrite (@along_gradient _ L z u (twice_once D))
  | Mpos : 0 < INR ?m, P : 0 < @variance ?m ?y + ?e
      |- context [valong (bn ?g ?b ?e) ?y ?u] =>
        rewrite (@valong_bn _ g b e y Mpos P u)
  | Mpos : 0 < INR ?m, P : 0 < @variance ?m ?y + ?e
      |- context [valong (normalize ?e) ?y ?u] => rewrite (@valong_normalize _ e y Mpos P u)
  end;
  repeat match goal with
  | |- context [along ?F ?y ?u] =>
      let E := fresh in
      eassert (E : sder (fun t => F (move y u t)) _) by rule;
      apply along_is in E; cbv beta in E; rewrite ?move0 in E; rewrite E; clear E
  | |- context [valong ?F ?y ?u] =>
      lazymatch F with gradient ?L => fail | _ => idtac end;
      let E := fresh in
      eassert (E : vder (fun t => F (move y u t)) _) by rule;
      apply valong_is in E; cbv beta in E; rewrite ?move0 in E; rewrite E; clear E
  end;
  repeat match goal with
  | |- context [gradient ?F ?y] =>
      tryif is_var F then fail else idtac;
      let E := fresh in
      eassert (E : gradient F y = _)
        by (apply gradient_is; let u := fresh "u" in intro u;
            eapply sder_eq; [rule | rewrite ?move0; linear_in u]);
      rewrite E; clear E
  end;
  unfold jacobian, normalize_jacobian, project.

(* ---- the tactics of statements ---- *)

Ltac identity := facts; close_derivatives; algebra.
Ltac vector_identity := apply vec_eq; let w := fresh "w" in intro w; identity.

Lemma dot_positive m (a : vec m) : norm2 a <> 0 -> 0 < norm2 a.
Proof. intro N. destruct (dot_pos a) as [|E]; [assumption|]. now elim N. Qed.
Lemma quotient_nonneg a b : 0 <= a -> 0 < b -> 0 <= a / b.
Proof. intros A B. apply Rmult_le_pos; [assumption|]. left. now apply Rinv_0_lt_compat. Qed.
Lemma square_pos a : a <> 0 -> 0 < a ^ 2.
Proof. intro N. pose proof (Rsqr_pos_lt a N) as S. unfold Rsqr in S. lra. Qed.
Lemma pow_even_nonneg a n : 0 <= a ^ (2 * n).
Proof. rewrite pow_mult. apply pow_le, pow2_ge_0. Qed.

Ltac positive :=
  first
  [ assumption | lra
  | match goal with
    | |- 0 < ?a * ?b => apply Rmult_lt_0_compat; positive
    | |- 0 < ?a / ?b => apply Rdiv_lt_0_compat; positive
    | |- 0 < ?a ^ _ => apply pow_lt; positive
    | |- 0 < ?a ^ 2 => apply square_pos; assumption
    | |- 0 < ?a + ?b => apply Rplus_lt_0_compat; positive
    | |- 0 < dot ?a ?a => apply dot_positive; assumption
    | Z : sqrt ?e <> 0 |- 0 < sqrt ?e =>
        destruct (sqrt_pos e) as [Pos | Zero]; [exact Pos | elim Z; symmetry; exact Zero]
    | |- 0 < sqrt _ => apply sqrt_lt_R0; positive
    end ].
Ltac nonneg :=
  first
  [ assumption | lra
  | apply pow2_ge_0 | apply (pow_even_nonneg _ 2) | apply (pow_even_nonneg _ 3) | apply dot_pos
  | match goal with
    | |- 0 <= ?a * ?b => apply Rmult_le_pos; nonneg
    | |- 0 <= ?a / ?b => apply quotient_nonneg; [nonneg | positive]
    | |- 0 <= ?a ^ _ => apply pow_le; nonneg
    | |- 0 <= ?a + ?b => apply Rplus_le_le_0_compat; nonneg
    | |- 0 <= sqrt _ => apply sqrt_pos
    end
  | left; positive | nra ].

(* A term with a factor that a hypothesis says is zero. *)
Ltac vanishing :=
  match goal with Q : ?q = 0 |- context [?q] =>
    rewrite Q, ?Rmult_0_r, ?Rmult_0_l; apply Rle_refl end.
Ltac nonneg_terms :=
  lazymatch goal with
  | |- 0 <= ?a + ?b => apply Rplus_le_le_0_compat; nonneg_terms
  | |- 0 < ?a + ?b =>
      first [ apply Rplus_lt_le_0_compat; [nonneg_terms | nonneg_terms]
            | apply Rplus_le_lt_0_compat; [nonneg_terms | nonneg_terms]
            | positive ]
  | |- 0 <= _ => first [vanishing | nonneg]
  | |- 0 < _ => positive
  end.

Lemma certified_le A B r : B - A = r -> 0 <= r -> A <= B. Proof. lra. Qed.
Lemma certified_ge A B r : A - B = r -> 0 <= r -> A >= B. Proof. lra. Qed.
Lemma certified_lt A B r : B - A = r -> 0 < r -> A < B. Proof. lra. Qed.
Lemma certified_gt A B r : A - B = r -> 0 < r -> A > B. Proof. lra. Qed.

(* The larger side minus the smaller is r; that r has its sign is left to prove. *)
Ltac by_certificate r :=
  lazymatch goal with
  | |- ?A <= ?B => apply (certified_le A B r)
  | |- ?A >= ?B => apply (certified_ge A B r)
  | |- ?A < ?B => apply (certified_lt A B r)
  | |- ?A > ?B => apply (certified_gt A B r)
  end; facts; [identity | ].
